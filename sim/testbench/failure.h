#pragma once

#include "abi.h"

namespace fgpu {

// The first thing that went wrong; the run stops there.
struct Failure {
    uint32_t status = RUNNING;
    char message[sizeof Result::message] = {};

    explicit operator bool() const { return status != RUNNING; }
    void set(Status kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
};

}  // namespace fgpu
