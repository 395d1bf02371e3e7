"""The house's own random numbers: xoshiro128++ (Blackman and Vigna), seeded through MurmurHash3.

numpy promises no stable streams for its shuffles, so a game carries the four words of this generator in
its record: a seeded game is the same on every machine, compiled or not. Imports the compiler door only.
"""

from __future__ import annotations

import numpy as np

from byzanz_env._jit import njit


@njit
def _rotate_left(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & 0xFFFFFFFF


@njit
def next_word(rng: np.ndarray) -> int:
    """The next 32 random bits of xoshiro128++."""
    a, b, c, d = int(rng[0]), int(rng[1]), int(rng[2]), int(rng[3])
    word = (_rotate_left((a + d) & 0xFFFFFFFF, 7) + a) & 0xFFFFFFFF
    shifted = (b << 9) & 0xFFFFFFFF
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = _rotate_left(d, 11)
    rng[0], rng[1], rng[2], rng[3] = a, b, c, d
    return word


@njit
def below(rng: np.ndarray, limit: int) -> int:
    """A uniform integer in 0 .. limit - 1, without bias."""
    fair = 0x100000000 - 0x100000000 % limit
    word = next_word(rng)
    while word >= fair:
        word = next_word(rng)
    return word % limit


@njit
def murmur3_add(state: int, word: int) -> int:
    """The state of a MurmurHash3 after one more word; it begins as the seed."""
    word = (word * 0xCC9E2D51) & 0xFFFFFFFF
    word = (_rotate_left(word, 15) * 0x1B873593) & 0xFFFFFFFF
    return (_rotate_left(state ^ word, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF


@njit
def murmur3_end(state: int, words: int) -> int:
    """The hash of so many words."""
    state ^= 4 * words
    state = ((state ^ (state >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    state = ((state ^ (state >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return state ^ (state >> 16)


@njit
def murmur3(words: np.ndarray, seed: int) -> int:
    """MurmurHash3 (x86, 32 bit) of little-endian 32-bit words."""
    state = seed & 0xFFFFFFFF
    for i in range(len(words)):
        state = murmur3_add(state, int(words[i]))
    return murmur3_end(state, len(words))


@njit
def seed_generator(rng: np.ndarray, seed: int, stream: int) -> None:
    """Fill the four words of a generator from a seed and a stream, both in 0 .. 2**63 - 1."""
    words = np.empty(4, dtype=np.uint32)
    words[0], words[1] = seed & 0xFFFFFFFF, seed >> 32
    words[2], words[3] = stream & 0xFFFFFFFF, stream >> 32
    for i in range(4):
        rng[i] = murmur3(words, i + 1)
    if rng[0] == 0 and rng[1] == 0 and rng[2] == 0 and rng[3] == 0:
        rng[0] = 1


@njit
def derive_seed(seed: int, first: int, second: int) -> int:
    """A game seed in 0 .. 2**63 - 1 that depends on three numbers and nothing else."""
    rng = np.empty(4, dtype=np.uint32)
    seed_generator(rng, seed, first)
    words = np.empty(6, dtype=np.uint32)
    words[:4] = rng
    words[4], words[5] = second & 0xFFFFFFFF, second >> 32
    return ((murmur3(words, 5) & 0x7FFFFFFF) << 32) | murmur3(words, 6)


@njit
def shuffle(rng: np.ndarray, cards: np.ndarray, count: int) -> None:
    for i in range(count - 1, 0, -1):
        j = below(rng, i + 1)
        card = int(cards[i])
        cards[i] = cards[j]
        cards[j] = card
