"""A host that knows what a board must hold, and does to the line what hosts, cables and power switches do."""

import random
from typing import Any

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fgpu.axi import AXI4LiteSignature, AXI4Signature
from fgpu.board.protocol import RETRIES_TO_DEFAULT, BoardRegister, rate_of
from fgpu.board.registers import config_words
from fgpu.board.system import System, SystemParameters
from fgpu.config import KERNEL_SLOTS, Config
from tests.streams import simulate

from .host import BAD, ERROR, FRAME_LEAVE, FRAME_READ, FRAME_WRITE, OKAY, answer, damages, frame, plain
from .memory import Memory

__all__ = ["Hostile", "attack"]

CLOCK = 1_000_000
FIRST = 8.0                     # cycles of a bit at first
FASTEST, SLOWEST = 4.0, 32.0    # that the host chooses
TIMEOUT, BREAK = 1200, 900
CONTROL, BOARD, MEMORY = 0, 0x2_0000 // 4, 0x1000_0000 // 4     # first words
CONTROL_WORDS, BOARD_WORDS, MEMORY_WORDS = 0x1_0000 // 4, 128, 0x1000 // 4
MOST_WORDS = 256
CONFIG = Config.preset("tiny")
PATIENCE = 600                  # cycles that a host waits for the first or the next byte
BAD_RATES = [0, 1, rate_of(1, 20 * FIRST), rate_of(1, 3), (1 << 24) - 1, 1 << 24, rate_of(1, FIRST) | 1 << 24,
             rate_of(1, FIRST) | 1 << 31]


class _Core(wiring.Component):
    """A core's ports and nothing behind them; its registers are in the test bench."""

    def __init__(self) -> None:
        super().__init__({
            "s_axi": In(AXI4LiteSignature(address_width=16)),
            "m_axi": Out(AXI4Signature(data_width=CONFIG.axi_data_width)).array(CONFIG.axi_ports),
            "kernel_status": Out(KERNEL_SLOTS), "kernel_fault": Out(32),
        })

    def elaborate(self, platform: object) -> Module:
        return Module()


class _Registers:
    """The core's control interface: answers in random time, refuses words whose address has bit 8 set."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.writes: list[tuple[int, int]] = []

    @staticmethod
    def word(address: int) -> int:
        """What is read at a word's address."""
        return address * 0x9E37_79B1 & 0xFFFF_FFFF

    @staticmethod
    def refuses(address: int) -> bool:
        return bool(address >> 8 & 1)

    async def serve(self, ctx: Any, axi: Any) -> None:
        """A test bench in the background."""
        while True:
            while not (await ctx.tick().sample(axi.awvalid | axi.arvalid))[-1]:
                pass
            await ctx.tick().repeat(self._rng.randrange(4) + 1)
            write = ctx.get(axi.awvalid)
            address = ctx.get(axi.awaddr if write else axi.araddr) // 4
            channels = ((axi.awready, axi.wready, axi.bvalid, axi.bready) if write
                        else (axi.arready, None, axi.rvalid, axi.rready))
            if write:
                self.writes.append((address, ctx.get(axi.wdata)))
            ctx.set(axi.bresp if write else axi.rresp, 2 * self.refuses(address))
            ctx.set(axi.rdata, self.word(address))
            for ready in channels[:2]:
                if ready is not None:
                    ctx.set(ready, 1)
            await ctx.tick()
            for ready in channels[:2]:
                if ready is not None:
                    ctx.set(ready, 0)
            ctx.set(channels[2], 1)
            while not (await ctx.tick().sample(channels[3]))[-1]:
                pass
            ctx.set(channels[2], 0)


class Line:
    """Both directions of the line, in cycles of the board's clock."""

    def __init__(self, ctx: Any, dut: System) -> None:
        self._ctx, self._dut = ctx, dut
        self._edges: list[tuple[int, int]] = []      # of what the board sends: when, and to which level
        self._now = 0

    async def listen(self, ctx: Any) -> None:
        """A test bench in the background."""
        level = 1
        while True:
            *_, found = await ctx.tick().sample(self._dut.tx)
            self._now += 1
            if found != level:
                level = found
                self._edges.append((self._now, level))

    async def hold(self, level: int, cycles: float) -> None:
        """The host's end of the line has a level for so long."""
        self._ctx.set(self._dut.rx, level)
        await self._ctx.delay(cycles / CLOCK)

    async def send(self, text: list[int] | bytes, cycles: float) -> None:
        """Bytes whose bits take so many cycles; one of 256 and more has no stop bit."""
        for byte in text:
            for level in [0, *(byte >> place & 1 for place in range(8)), byte < BAD]:
                await self.hold(level, cycles)
            self._ctx.set(self._dut.rx, 1)

    async def silence(self, cycles: float) -> None:
        await self.hold(1, cycles)

    def heard(self, cycles: float) -> bytes:
        """What has come whole since :meth:`forget`, of bits that take so many cycles."""
        found, free = bytearray(), 0.0
        for place, (begin, level) in enumerate(self._edges):
            if level or begin < free:
                continue
            free = begin + 9.5 * cycles
            if self._now < free:
                break
            bits = [self._level(place, begin + (bit + 0.5) * cycles) for bit in range(10)]
            assert bits[9], "no stop bit"
            found.append(sum(bit << number for number, bit in enumerate(bits[1:9])))
        return bytes(found)

    def _level(self, place: int, when: float) -> int:
        level = 0
        for at, next_level in self._edges[place:]:
            if at > when:
                break
            level = next_level
        return level

    def forget(self) -> None:
        self._edges.clear()

    async def answer(self, count: int, cycles: float, patience: float) -> bytes:
        """So many bytes, or more that come with them; fewer when none has come for a while."""
        while True:
            await self.silence(6 * cycles)
            since = self._now - (self._edges[-1][0] if self._edges else -patience)
            if not self._edges:
                patience -= 6 * cycles
            if since > 12 * cycles and len(got := self.heard(cycles)) >= count:
                return got
            if since > patience if self._edges else patience < 0:
                return self.heard(cycles)


class Hostile:
    """A host, and what the board must hold after all that it did."""

    def __init__(self, line: Line, rng: random.Random, registers: _Registers, memory: Memory) -> None:
        self._line, self._rng = line, rng
        self._registers, self._memory = registers, memory
        self._control: list[tuple[int, int]] = []
        self._words: dict[int, int] = {}
        self._cycles = FIRST            # of a bit
        self._rate = rate_of(1, FIRST)
        self._locked = False
        self._sequence = rng.randrange(128)
        self.done: dict[str, int] = {}

    # -- what the board must do --------------------------------------------------------------------------

    def _read_word(self, address: int) -> tuple[int, bool]:
        if address < CONTROL_WORDS:
            return self._registers.word(address), self._registers.refuses(address)
        if MEMORY <= address < MEMORY + MEMORY_WORDS:
            return self._words.get(address - MEMORY, 0), False
        index = address - BOARD
        if 0 <= index < BOARD_WORDS:
            known = {BoardRegister.MAGIC: 0x46475055, BoardRegister.CLOCK: CLOCK, BoardRegister.STATE: 1,
                     BoardRegister.MEMORY_BYTES: 4 * MEMORY_WORDS, BoardRegister.RATE: self._rate,
                     **{64 + number: word for number, word in enumerate(config_words(CONFIG))}}
            return known.get(index, 0), index not in known
        return 0xFFFF_FFFF, True

    def _write_word(self, address: int, word: int) -> bool:
        """Returns whether it is refused."""
        if address < CONTROL_WORDS:
            self._control.append((address, word))
            return self._registers.refuses(address)
        if MEMORY <= address < MEMORY + MEMORY_WORDS:
            self._words[address - MEMORY] = word
            return False
        if address == BOARD + BoardRegister.RATE and rate_of(1, SLOWEST) <= word <= rate_of(1, FASTEST):
            self._rate = word
            return False
        return True

    def check(self) -> None:
        """The board has what it must have, and nothing else was written."""
        assert self._registers.writes == self._control
        found = {address // 4: 0 for address in self._memory.words}
        for address, byte in self._memory.words.items():
            found[address // 4] |= byte << 8 * (address % 4)
        assert {address: word for address, word in found.items() if word} == {
            address: word for address, word in self._words.items() if word}

    # -- right frames ------------------------------------------------------------------------------------

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) % 128
        return 0x80 | self._sequence

    def _place(self, count: int) -> int:
        """A word's address, for so many of them: within what there is, over its end, or far from it."""
        rng = self._rng
        first, words = rng.choice([(CONTROL, CONTROL_WORDS), (MEMORY, MEMORY_WORDS), (MEMORY, MEMORY_WORDS),
                                   (BOARD + 64, BOARD_WORDS - 64)])
        return rng.choice([
            first + rng.randrange(words), first, first + max(0, words - count), first + words - count // 2 - 1,
            first + words, rng.getrandbits(32), (1 << 30) - count // 2 - 1, (1 << 30) + first,
            (1 << 31) + first + words - 1, (1 << 32) - count // 2 - 1, CONTROL_WORDS + rng.randrange(CONTROL_WORDS)])

    def _words_of(self, count: int) -> list[int]:
        return [self._rng.choice([self._rng.getrandbits(32), 0, 0x0102_0304, 0xD880_0000]) for _ in range(count)]

    def _avoids(self, address: int, count: int) -> bool:
        """Not the register of cycles, of which nobody knows what it says, nor that of the rate."""
        return not any(address <= BOARD + place < address + count
                       for place in (BoardRegister.CYCLES, BoardRegister.RATE))

    def frame(self, most: int = 12) -> tuple[bytes, bytes]:
        """A right frame, and its answer. The board is taken to execute it."""
        rng = self._rng
        count = rng.choice([1, 1, 2, rng.randint(1, most)])
        while not self._avoids(address := self._place(count), count):
            pass
        if rng.random() < 0.6:
            return self._write(address, self._words_of(count))
        return self._read(address, count)

    def _write(self, address: int, words: list[int]) -> tuple[bytes, bytes]:
        number = self._next()
        refused = [self._write_word(address + place, word) for place, word in enumerate(words)]
        return (frame(FRAME_WRITE, number, 4 * address, words=words),
                answer(number, status=ERROR if any(refused) else OKAY))

    def _read(self, address: int, count: int) -> tuple[bytes, bytes]:
        number = self._next()
        found = [self._read_word(address + place) for place in range(count)]
        return (frame(FRAME_READ, number, 4 * address, count=count),
                answer(number, [word for word, _ in found], ERROR if any(wrong for _, wrong in found) else OKAY))

    async def ask(self, text: bytes, wanted: bytes) -> None:
        """Send a right frame or command. What is answered must be that, and nothing more."""
        self._line.forget()
        await self._line.send(text, self._cycles)
        got = await self._line.answer(len(wanted), self._cycles, PATIENCE + 15 * len(text))
        assert got == wanted, (text.hex(), got.hex(), wanted.hex())
        self.check()

    async def right(self, most: int = 12) -> None:
        """A frame, which may be repeated: a write is executed once."""
        text, wanted = self.frame(most)
        for _ in range(self._rng.choice([1, 1, 1, 2, 3])):
            await self.ask(text, wanted)
        self._locked = True

    async def ignored(self) -> None:
        """Wait until the board has forgotten what came; it has said nothing and done nothing."""
        await self._line.silence(TIMEOUT + 40)
        self.check()

    async def find(self) -> None:
        """Begin a session without knowing the rate, as the driver does; the board must be found."""
        rates = [*[self._cycles] * RETRIES_TO_DEFAULT, *[FIRST] * (RETRIES_TO_DEFAULT + 1)]
        for self._cycles in rates:
            number = self._next()
            wanted = answer(number, [0x46475055])
            self._line.forget()
            await self._line.send(frame(FRAME_READ, number, 4 * BOARD), self._cycles)
            got = await self._line.answer(len(wanted), self._cycles, PATIENCE)
            if got == wanted:
                self._locked = True
                self._rate = rate_of(1, self._cycles)
                self.check()
                return
            await self.ignored()
        raise AssertionError("the board is lost")

    # -- what hosts, cables and switches do --------------------------------------------------------------

    async def long_frames(self) -> None:
        """As long as can be."""
        for count in (MOST_WORDS, self._rng.randint(200, MOST_WORDS)):
            address = MEMORY + self._rng.randrange(MEMORY_WORDS - count // 2)
            await self.ask(*self._write(address, self._words_of(count)))
            await self.ask(*self._read(address, count))

    async def other_rate(self) -> None:
        """A rate that is to be, or one that must be refused."""
        cycles = self._rng.uniform(FASTEST, SLOWEST)
        text, wanted = self._write(BOARD + BoardRegister.RATE, [rate_of(1, cycles)])
        await self.ask(text, wanted)
        self._cycles = cycles
        await self.right()
        await self.ask(*self._write(BOARD + BoardRegister.RATE, [self._rng.choice(BAD_RATES)]))

    async def garbage(self) -> None:
        """Bytes without sense, with pauses or not. In a session they do nothing."""
        self._line.forget()
        for _ in range(self._rng.choice([1, 1, 3])):
            text = [byte + BAD * (self._rng.random() < 0.05)
                    for byte in self._rng.randbytes(self._rng.choice([1, 3, 20, 60]))]
            if self._rng.random() < 0.3:
                text[0] = self._rng.choice([FRAME_WRITE, FRAME_READ, FRAME_LEAVE])
            await self._line.send(text, self._cycles)
            await self._line.silence(self._rng.choice([0, 0.5, 0.95, 1.2]) * TIMEOUT)
        await self.ignored()
        assert not self._line.heard(self._cycles)

    async def damage(self) -> None:
        """A frame with bits that are others, bytes that are lost or come from nowhere, or an end that is missing."""
        saved = list(self._control), dict(self._words), self._rate
        text, _ = self.frame()
        damaged = damages(self._rng)(text)
        self._control, self._words, self._rate = saved
        if damaged == list(text):
            return
        self._line.forget()
        await self._line.send(damaged, self._cycles)
        if self._rng.random() < 0.3:        # the next one is not waited for
            await self._line.silence(self._rng.choice([0, 20, 0.9 * TIMEOUT]))
            await self._line.send(frame(FRAME_WRITE, self._next(), 4 * MEMORY, words=[1, 2]), self._cycles)
        await self.ignored()
        assert not self._line.heard(self._cycles)

    async def pulses(self) -> None:
        """The line twitches while nothing is said."""
        for _ in range(self._rng.randint(1, 20)):
            await self._line.hold(0, self._rng.uniform(0.01, 1.5) * self._cycles)
            await self._line.silence(self._rng.uniform(0.01, 30) * self._cycles)
        await self.ignored()

    async def wrong_rate(self) -> None:
        """A host speaks at a rate that is not the board's."""
        cycles = self._cycles * self._rng.choice([0.2, 0.5, 0.7, 1.5, 2.5])
        for _ in range(self._rng.randint(1, RETRIES_TO_DEFAULT + 1)):
            await self._line.send(frame(FRAME_WRITE, self._next(), 4 * MEMORY, words=[3]), cycles)
            await self.ignored()

    async def death(self) -> None:
        """The host dies within a frame, or within a bit; the next one knows nothing."""
        text = frame(FRAME_WRITE, self._next(), 4 * self._rng.choice([CONTROL, MEMORY]), words=self._words_of(2))
        await self._line.send(text[:self._rng.randrange(len(text))], self._cycles)
        await self._line.hold(0, self._rng.choice([0, 0.3, 3]) * self._cycles)
        await self._line.silence(self._rng.choice([10 * FIRST, TIMEOUT / 2, 2 * TIMEOUT]))
        self._cycles = FIRST

    async def flood(self) -> None:
        """More than the board can take. What is answered was done; the rest was not."""
        frames, count = [], self._rng.choice([1, 4, 24])
        for _ in range(14):
            address = MEMORY + self._rng.randrange(MEMORY_WORDS)
            writes = self._rng.random() < 0.4
            frames.append((self._next(), address, self._words_of(count) if writes else None))
        self._line.forget()
        await self._line.send(b"".join(
            frame(FRAME_READ, number, 4 * address, count=count) if words is None
            else frame(FRAME_WRITE, number, 4 * address, words=words) for number, address, words in frames),
            self._cycles)
        got = await self._line.answer(1 << 20, self._cycles, PATIENCE)
        for number, address, words in frames:
            if not got or got[0] != number:
                continue
            self._sequence = (number - 1) % 128
            _, wanted = self._read(address, count) if words is None else self._write(address, words)
            assert got.startswith(wanted)
            got = got[len(wanted):]
        assert not got
        self._sequence = frames[-1][0]
        await self.ignored()

    async def line_break(self) -> None:
        """The line is low: too short for a break, or long enough, in the middle of a frame or an answer."""
        text, _ = self._read(MEMORY, 8)
        await self._line.send(text[:self._rng.choice([0, 5, len(text)])], self._cycles)
        await self._line.silence(self._rng.choice([0, 60 * self._cycles]))
        if self._rng.random() < 0.3:
            await self._line.hold(0, self._rng.uniform(0.4, 0.95) * BREAK)
            await self._line.silence(PATIENCE + 20 * 40 * self._cycles)
            return
        await self._line.hold(0, self._rng.uniform(1.05, 3) * BREAK)
        await self._line.silence(PATIENCE + 20 * 40 * self._cycles)
        self._cycles, self._rate, self._locked = FIRST, rate_of(1, FIRST), False
        if self._rng.random() < 0.7:
            await self.commands()

    async def leave(self) -> None:
        """The end of a session, and commands without checksum."""
        number = self._next()
        await self.ask(frame(FRAME_LEAVE, number, self._rng.getrandbits(32), count=self._rng.randint(1, 256)),
                       answer(number))
        self._cycles, self._rate, self._locked = FIRST, rate_of(1, FIRST), False
        await self.commands()

    async def commands(self) -> None:
        """LiteX's commands: lengths of 0, which are 256 words, those that end too soon, and what is none."""
        rng = self._rng
        for _ in range(rng.randint(1, 4)):
            fixed = rng.random() < 0.3
            count = rng.choice([1, 2, 5, 0 if rng.random() < 0.1 else 3])
            words = self._words_of(count or MOST_WORDS)
            while not self._avoids(address := self._place(len(words)), len(words)):
                pass
            places = [address + place * (not fixed) for place in range(len(words))]
            if rng.random() < 0.5:
                text = plain(3 if fixed else 1, 4 * address, words=words)
                if (broken := rng.random() < 0.3):
                    cut = rng.randrange(1, len(text))
                    text, places = text[:cut], places[:max(0, cut - 6) // 4]
                for place, word in zip(places, words, strict=False):
                    self._write_word(place, word)
                await self.ask(text, b"")
                if broken:
                    await self.ignored()
            else:
                await self.ask(plain(4 if fixed else 2, 4 * address, count=count), b"".join(
                    self._read_word(place)[0].to_bytes(4, "big") for place in places))
            if rng.random() < 0.3:
                await self._line.send([rng.choice([0, 5, 0x7F, 0xFF]), *rng.randbytes(rng.randrange(20))],
                                      self._cycles)
                await self.ignored()

    async def run(self, rounds: int) -> None:
        """So many of these things, all of them in any order before they come again; right frames between them."""
        acts = [self.long_frames, *[self.other_rate] * 3, *[self.garbage] * 3, *[self.damage] * 6, self.pulses,
                *[self.wrong_rate] * 2, *[self.death] * 4, self.flood, *[self.line_break] * 3, *[self.leave] * 2]
        await self._line.silence(20)
        order: list[Any] = []
        for _ in range(rounds):
            await self.find()
            await self.right()
            order = order or self._rng.sample(acts, len(acts))
            act = order.pop()
            self.done[act.__name__] = self.done.get(act.__name__, 0) + 1
            await act()
        await self.find()


def attack(seed: int, rounds: int) -> dict[str, int]:
    """Attack a board for some rounds; how often each thing was done. Raises AssertionError for what is wrong."""
    rng = random.Random(seed)
    registers, memory = _Registers(rng), Memory(rng, CONFIG.axi_data_width)
    core = _Core()
    dut = System(SystemParameters(clock=CLOCK, memory_bytes=4 * MEMORY_WORDS, config=CONFIG, baud=CLOCK / FIRST,
                                  timeout=TIMEOUT / CLOCK, line_break=BREAK / CLOCK), core=lambda _: core)
    lines: list[Line] = []
    hosts: list[Hostile] = []

    async def host(ctx: Any) -> None:
        ctx.set(dut.memory_ready, 1)
        lines.append(Line(ctx, dut))
        hosts.append(Hostile(lines[0], rng, registers, memory))
        await hosts[0].run(rounds)

    async def listen(ctx: Any) -> None:
        await lines[0].listen(ctx)

    async def serve(ctx: Any) -> None:
        await registers.serve(ctx, core.s_axi)

    async def read(ctx: Any) -> None:
        await memory.read(ctx, dut.memory)

    async def write(ctx: Any) -> None:
        await memory.write(ctx, dut.memory)

    simulate(dut, host, background=[listen, serve, read, write], limit=1 << 40)
    return hosts[0].done
