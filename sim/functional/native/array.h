// What takes the place of the C++ library, which one of the compilers would build for minutes first: compiled C++ here needs the C library only.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace fgpu {

template <typename T> static inline T least(T a, T b) { return b < a ? b : a; }
template <typename T> static inline T greatest(T a, T b) { return a < b ? b : a; }
static inline unsigned lowest_bit(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }
static inline unsigned ones(uint64_t mask) { return unsigned(__builtin_popcountll(mask)); }

// Elements of a plain type in memory that grows, and is kept. Nobody asks for more than there is: kernels are bounded.
template <typename T> class Array {
public:
    Array() = default;
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { free(elements_); }

    // Makes room for so many; what they hold is not said.
    void resize(size_t count) {
        if (count > room_) {
            free(elements_);
            room_ = count;
            elements_ = static_cast<T *>(aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64));
            if (!elements_) abort();
        }
        count_ = count;
    }
    void assign(size_t count, T value) {
        resize(count);
        for (size_t i = 0; i < count; i++) elements_[i] = value;
    }
    size_t size() const { return count_; }
    T *data() { return elements_; }
    T &operator[](size_t i) { return elements_[i]; }
    const T &operator[](size_t i) const { return elements_[i]; }

private:
    T *elements_ = nullptr;
    size_t count_ = 0, room_ = 0;
};

}
