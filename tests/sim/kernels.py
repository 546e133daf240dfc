"""Assembly kernels with what they must compute, for every engine. See ``test_regression``."""

import numpy as np

from fgpu.compiler import assemble

GLOBAL_ID = """
    lid   r1, 0
    wgoff r2, 0
    add   r1, r1, r2
"""


def image(text):
    return assemble(text)


# out[gid] = how many times the loop ran: gid & 15, 0 included. Diverges at every turn.
LOOP = image(f"""
.kernel loop
{GLOBAL_ID}
    lp    r3, 0
    andi  r4, r1, 15
    li    r5, 0
again:
    beq   r4, r0, done
    addi  r5, r5, 1
    addi  r4, r4, -1
    beq   r0, r0, again
done:
    sw    r5, r3[r1]
    ret
""")


def loop_golden(ids):
    return ids & 15


# A subroutine with a branch in it, called under divergence, from three places.
CALLS = image(f"""
.kernel calls
{GLOBAL_ID}
    lp    r3, 0
    add   r4, r1, r0
    andi  r5, r1, 1
    beq   r5, r0, even
    jsub  step
    jsub  step
even:
    jsub  step
    sw    r4, r3[r1]
    ret
step:                       ; r4 = r4 * 3 + 1, or r4 + 100 where its bit 1 is set
    andi  r6, r4, 2
    bne   r6, r0, add
    li    r7, 3
    mul   r4, r4, r7
    addi  r4, r4, 1
    ret
add:
    addi  r4, r4, 100
    jsub  inner
    ret
inner:
    andi  r6, r4, 4
    beq   r6, r0, out
    addi  r4, r4, 1000
out:
    ret
""")


def calls_golden(ids):
    def step(value):
        more = value + 100
        return np.where(value & 2, np.where(more & 4, more + 1000, more), 3 * value + 1)
    return step(np.where(ids & 1, step(step(ids)), ids))


# 64 paths of different length: the most divergence there is.
TREE = image(f"""
.kernel tree
{GLOBAL_ID}
    lp    r3, 0
    li    r5, 0
""" + "".join(f"""
    andi  r4, r1, {1 << bit}
    beq   r4, r0, skip{bit}
    addi  r5, r5, {10 ** (bit % 4) * (bit + 1)}
skip{bit}:
    add   r5, r5, r5
""" for bit in range(6)) + """
    sw    r5, r3[r1]
    ret
""")


def tree_golden(ids):
    value = np.zeros_like(ids)
    for bit in range(6):
        value = 2 * np.where(ids >> bit & 1, value + 10 ** (bit % 4) * (bit + 1), value)
    return value


# Scratchpad as a stack that grows down from 0: what was pushed comes back.
SCRATCHPAD = image(f"""
.kernel scratchpad
{GLOBAL_ID}
    lp    r3, 0
    addi  r31, r31, -3
    lswi  r1, r31[0]
    addi  r4, r1, 7
    lswi  r4, r31[1]
    lswi  r31, r31[2]
    llwi  r5, r31[1]
    llwi  r6, r31[0]
    llwi  r7, r31[2]
    addi  r31, r31, 3
    mul   r5, r5, r6
    add   r5, r5, r7
    sw    r5, r3[r1]
    ret
""")


def scratchpad_golden(ids):
    return ids * (ids + 7) - 3


# Byte g of word g / 4 gets g ^ 5, through sb; the halves of the next area get 3 * g, through sh.
NARROW = image(f"""
.kernel narrow
{GLOBAL_ID}
    lp    r3, 0
    xori  r4, r1, 5
    sb    r4, r3[r1]
    lp    r3, 1
    li    r5, 3
    mul   r4, r1, r5
    sh    r4, r3[r1]
    ret
""")

# All the runtime values, 32 words a work-item, at the linear global id in a 3-dimensional index space.
RUNTIME = image("""
.kernel runtime
    lid    r1, 0
    lid    r2, 1
    lid    r3, 2
    wgid   r4, 0
    wgid   r5, 1
    wgid   r6, 2
    wgsize r7, 0
    wgsize r8, 1
    wgsize r9, 2
    wgoff  r10, 0
    wgoff  r11, 1
    wgoff  r12, 2
    size   r13, 0
    size   r14, 1
    size   r15, 2
    mul    r16, r4, r7
    add    r16, r16, r1         ; x, without the offset
    mul    r17, r5, r8
    add    r17, r17, r2
    mul    r18, r6, r9
    add    r18, r18, r3
    macc   r17, r18, r14        ; y + z * height
    macc   r16, r17, r13        ; x + (y + z * height) * width
    slli   r16, r16, 7
    lp     r17, 0
    add    r17, r17, r16
    lp     r16, 1
""" + "".join(f"""
    li     r20, {index}
    sw     r{index + 1}, r17[r20]
""" for index in range(16)) + "".join(f"""
    gid    r21, {dimension}
    li     r20, {16 + dimension}
    sw     r21, r17[r20]
""" for dimension in range(3)) + """
    ret
""")


def runtime_golden(global_size, local_size, offset, parameter):
    width, height, depth = global_size
    rows = []
    for z in range(depth):
        for y in range(height):
            for x in range(width):
                at = np.array([x, y, z])
                local, groups = at % local_size, at // local_size
                rows.append([*local, *groups, *local_size, *(groups * local_size + offset), *global_size, parameter,
                             *(at + offset), *[0] * 13])
    return np.array(rows)
