//! The S-boxes of DES as three-input gates, one bit of each lane at a time. `cargo xtask sboxes` makes this
//! file from `circuits.txt`, and `cargo xtask check` rejects other changes.
//!
//! The input is b1 to b6 as the expansion E gives them. The first output is the most significant bit. FIPS 46-3.

use crate::simd::Vector;

/// S1: 26 gates.
#[inline(always)]
pub(crate) fn s1<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b4.ternary::<0x49>(b5, b6);
    let g2 = b3.ternary::<0xA9>(b5, g1);
    let g3 = b4.ternary::<0x3A>(b5, g1);
    let g4 = b2.ternary::<0x19>(b3, g3);
    let g5 = b3.ternary::<0x38>(b6, g2);
    let g6 = b5.ternary::<0xA7>(g2, g5);
    let g7 = b6.ternary::<0x58>(g4, g6);
    let g8 = b1.ternary::<0x96>(g2, g4);
    let g9 = b3.ternary::<0xA6>(g8, g6);
    let g10 = g2.ternary::<0x97>(g3, g9);
    let g11 = b1.ternary::<0xCA>(g2, g6);
    let g12 = b2.ternary::<0xCA>(g10, g11);
    let g13 = b1.ternary::<0xD4>(g1, g6);
    let g14 = b2.ternary::<0x3D>(g7, g11);
    let g15 = b2.ternary::<0xD2>(b4, g5);
    let g16 = g5.ternary::<0xA9>(g13, g15);
    let g17 = g8.ternary::<0xB8>(g12, g16);
    let g18 = g8.ternary::<0xE1>(g16, g7);
    let g19 = b4.ternary::<0x6E>(g5, g18);
    let g20 = g12.ternary::<0xA9>(g13, g19);
    let g21 = g20.ternary::<0x9B>(g15, b1);
    let g22 = g7.ternary::<0xA6>(g20, g21);
    let g23 = g17.ternary::<0x96>(g20, g14);
    let g24 = g5.ternary::<0xCA>(g22, g23);
    let g25 = g1.ternary::<0xD3>(g16, g17);
    let g26 = g18.ternary::<0xE4>(g20, g25);
    [g12, g17, g24, g26]
}

/// S2: 23 gates.
#[inline(always)]
pub(crate) fn s2<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1.ternary::<0x73>(b5, b6);
    let g2 = b2.ternary::<0x3B>(b4, g1);
    let g3 = b2.ternary::<0x86>(b3, b6);
    let g4 = b5.ternary::<0x96>(g2, g3);
    let g5 = b5.ternary::<0x43>(b6, g3);
    let g6 = g5.ternary::<0x96>(b3, g2);
    let g7 = g4.ternary::<0xB8>(b1, g6);
    let g8 = g1.ternary::<0x23>(g5, g7);
    let g9 = b4.ternary::<0x8C>(g8, g4);
    let g10 = b3.ternary::<0x96>(b1, g9);
    let g11 = b6.ternary::<0x4A>(g4, g5);
    let g12 = b1.ternary::<0x96>(b4, g11);
    let g13 = b2.ternary::<0xCA>(g10, g12);
    let g14 = b1.ternary::<0xB8>(b2, b6);
    let g15 = b1.ternary::<0x26>(b6, g8);
    let g16 = g5.ternary::<0x2D>(g7, g14);
    let g17 = g7.ternary::<0xC9>(g13, g16);
    let g18 = g15.ternary::<0x96>(b2, g17);
    let g19 = g7.ternary::<0x78>(g13, g18);
    let g20 = g1.ternary::<0x92>(g14, g19);
    let g21 = g18.ternary::<0xE9>(g16, b1);
    let g22 = g20.ternary::<0xA2>(g8, g21);
    let g23 = b6.ternary::<0xCA>(g22, g20);
    [g7, g13, g23, g18]
}

/// S3: 23 gates.
#[inline(always)]
pub(crate) fn s3<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b3.ternary::<0xE4>(b4, b5);
    let g2 = b2.ternary::<0x96>(b6, g1);
    let g3 = b2.ternary::<0x1A>(b3, b5);
    let g4 = b3.ternary::<0xB9>(g2, g3);
    let g5 = b4.ternary::<0x6A>(b5, g4);
    let g6 = b2.ternary::<0x29>(g2, g4);
    let g7 = b4.ternary::<0x86>(b5, g6);
    let g8 = g3.ternary::<0xEB>(b3, g7);
    let g9 = b4.ternary::<0x8F>(b6, g5);
    let g10 = b1.ternary::<0x96>(g2, g9);
    let g11 = g1.ternary::<0x39>(g4, g10);
    let g12 = b4.ternary::<0x6E>(g2, g8);
    let g13 = b6.ternary::<0x8A>(g8, g12);
    let g14 = g9.ternary::<0x8E>(g11, g13);
    let g15 = b1.ternary::<0xCA>(g5, g14);
    let g16 = b1.ternary::<0xA7>(b6, g4);
    let g17 = g11.ternary::<0x08>(g2, g16);
    let g18 = g10.ternary::<0xE1>(b3, g17);
    let g19 = g12.ternary::<0xA8>(g6, g16);
    let g20 = g13.ternary::<0xA9>(g15, g19);
    let g21 = g5.ternary::<0xC9>(g6, g18);
    let g22 = g10.ternary::<0xCA>(g20, g21);
    let g23 = b1.ternary::<0xAC>(g2, g13);
    [g15, g18, g22, g23]
}

/// S4: 19 gates.
#[inline(always)]
pub(crate) fn s4<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.ternary::<0x9D>(b4, b5);
    let g2 = b2.ternary::<0xA9>(b3, g1);
    let g3 = b2.ternary::<0x8E>(b5, g2);
    let g4 = b3.ternary::<0x96>(b4, g3);
    let g5 = b2.ternary::<0xE5>(g2, g4);
    let g6 = b1.ternary::<0xF9>(b4, g5);
    let g7 = b2.ternary::<0x99>(g2, g6);
    let g8 = g7.ternary::<0x79>(g2, b2);
    let g9 = b4.ternary::<0xE6>(b5, g8);
    let g10 = b1.ternary::<0x96>(g5, g9);
    let g11 = g9.ternary::<0x99>(g10, g7);
    let g12 = b4.ternary::<0xE4>(b2, g11);
    let g13 = g12.ternary::<0x48>(g9, b5);
    let g14 = g4.ternary::<0xB4>(b1, g13);
    let g15 = b6.ternary::<0xCA>(g7, g14);
    let g16 = g7.ternary::<0x96>(g12, g14);
    let g17 = b6.ternary::<0x5C>(g7, g14);
    let g18 = b6.ternary::<0xCA>(g10, g16);
    let g19 = b6.ternary::<0xA3>(g10, g16);
    [g15, g17, g18, g19]
}

/// S5: 25 gates.
#[inline(always)]
pub(crate) fn s5<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1.ternary::<0x49>(b3, b5);
    let g2 = b2.ternary::<0x96>(b6, g1);
    let g3 = b3.ternary::<0x81>(b5, g1);
    let g4 = g2.ternary::<0x9C>(b1, g3);
    let g5 = b3.ternary::<0xA4>(b5, b6);
    let g6 = g2.ternary::<0xA7>(g4, g5);
    let g7 = b2.ternary::<0xCA>(g4, g6);
    let g8 = b1.ternary::<0x63>(b5, g6);
    let g9 = b2.ternary::<0x94>(b4, g8);
    let g10 = b3.ternary::<0x94>(g4, g9);
    let g11 = b4.ternary::<0x1E>(g4, g10);
    let g12 = b2.ternary::<0xD5>(b3, g11);
    let g13 = b1.ternary::<0x3A>(g8, g12);
    let g14 = g2.ternary::<0x1A>(g13, b5);
    let g15 = g10.ternary::<0x96>(g12, g14);
    let g16 = g7.ternary::<0xCA>(g13, g15);
    let g17 = b4.ternary::<0xCA>(g2, g7);
    let g18 = b1.ternary::<0xE1>(b2, g12);
    let g19 = g7.ternary::<0x9C>(g11, g18);
    let g20 = g5.ternary::<0xCA>(g10, g19);
    let g21 = g17.ternary::<0x82>(g1, g6);
    let g22 = b3.ternary::<0x96>(g20, g21);
    let g23 = g18.ternary::<0x75>(g6, g17);
    let g24 = g20.ternary::<0x96>(b2, g23);
    let g25 = g16.ternary::<0xCA>(g22, g24);
    [g16, g17, g20, g25]
}

/// S6: 24 gates.
#[inline(always)]
pub(crate) fn s6<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1.ternary::<0x69>(b4, b5);
    let g2 = b2.ternary::<0x9E>(b3, b5);
    let g3 = b2.ternary::<0x4B>(b5, g1);
    let g4 = b1.ternary::<0x97>(b3, g3);
    let g5 = b2.ternary::<0x94>(g4, b5);
    let g6 = g1.ternary::<0xAC>(g2, g5);
    let g7 = b3.ternary::<0xCA>(g1, g3);
    let g8 = b1.ternary::<0x5B>(b4, b6);
    let g9 = g1.ternary::<0x08>(g2, g8);
    let g10 = b5.ternary::<0x36>(g7, g9);
    let g11 = b6.ternary::<0xCA>(g6, g7);
    let g12 = g4.ternary::<0xA5>(b2, g10);
    let g13 = b3.ternary::<0xC6>(g8, g12);
    let g14 = g10.ternary::<0x27>(g13, g2);
    let g15 = g4.ternary::<0xAC>(g13, g14);
    let g16 = b5.ternary::<0xD4>(g2, g15);
    let g17 = b6.ternary::<0x96>(g4, g16);
    let g18 = b6.ternary::<0xA9>(g6, g12);
    let g19 = g17.ternary::<0xB8>(b4, g18);
    let g20 = g15.ternary::<0x07>(b5, g3);
    let g21 = b2.ternary::<0x96>(g19, g20);
    let g22 = b2.ternary::<0x85>(b3, b4);
    let g23 = g13.ternary::<0xE4>(g17, g22);
    let g24 = g11.ternary::<0xCA>(g21, g23);
    [g11, g19, g24, g15]
}

/// S7: 25 gates.
#[inline(always)]
pub(crate) fn s7<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b3.ternary::<0x6D>(b4, b5);
    let g2 = b2.ternary::<0xA9>(b3, g1);
    let g3 = b1.ternary::<0x96>(b3, g2);
    let g4 = b2.ternary::<0x49>(b4, b5);
    let g5 = b4.ternary::<0x6A>(b6, g4);
    let g6 = b1.ternary::<0x98>(g2, g4);
    let g7 = b6.ternary::<0x9C>(g3, g6);
    let g8 = b2.ternary::<0xE9>(g2, g6);
    let g9 = b4.ternary::<0x39>(g2, g8);
    let g10 = b4.ternary::<0x96>(g7, g8);
    let g11 = g3.ternary::<0x61>(g9, g10);
    let g12 = g11.ternary::<0x42>(b6, b3);
    let g13 = b5.ternary::<0xCA>(g8, g12);
    let g14 = g1.ternary::<0x6B>(g3, g5);
    let g15 = g13.ternary::<0xA4>(b2, g5);
    let g16 = g5.ternary::<0xE4>(g14, g13);
    let g17 = b6.ternary::<0x68>(g1, g13);
    let g18 = g7.ternary::<0xCA>(g13, g16);
    let g19 = b3.ternary::<0x89>(g18, g15);
    let g20 = g10.ternary::<0xB6>(g18, g17);
    let g21 = g14.ternary::<0xCA>(g19, g20);
    let g22 = b1.ternary::<0xAC>(g9, g10);
    let g23 = g9.ternary::<0x52>(g11, g16);
    let g24 = g3.ternary::<0x96>(g4, g23);
    let g25 = b6.ternary::<0xCA>(g22, g24);
    [g21, g18, g25, g7]
}

/// S8: 24 gates.
#[inline(always)]
pub(crate) fn s8<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b3.ternary::<0x56>(b5, b6);
    let g2 = b4.ternary::<0xA6>(b5, g1);
    let g3 = b3.ternary::<0x69>(b4, g1);
    let g4 = b2.ternary::<0xCA>(g2, g3);
    let g5 = b6.ternary::<0xCE>(g3, g4);
    let g6 = b2.ternary::<0x7C>(g2, g5);
    let g7 = b3.ternary::<0xA4>(b6, g5);
    let g8 = b2.ternary::<0x69>(b5, g7);
    let g9 = g3.ternary::<0xAD>(g6, g8);
    let g10 = g4.ternary::<0x46>(g7, g9);
    let g11 = b5.ternary::<0xAC>(g9, g10);
    let g12 = b5.ternary::<0x96>(b6, g6);
    let g13 = g11.ternary::<0xBE>(g1, g10);
    let g14 = g12.ternary::<0xA4>(g4, g13);
    let g15 = g6.ternary::<0xB9>(g12, g8);
    let g16 = g14.ternary::<0x8D>(g8, g15);
    let g17 = b1.ternary::<0xCA>(g14, g16);
    let g18 = b1.ternary::<0xAC>(g4, g8);
    let g19 = b1.ternary::<0x26>(b6, g14);
    let g20 = b1.ternary::<0xAC>(g12, g11);
    let g21 = b2.ternary::<0xA5>(g1, g18);
    let g22 = g17.ternary::<0x96>(g20, g21);
    let g23 = g11.ternary::<0x96>(g22, g19);
    let g24 = g12.ternary::<0xCA>(g23, g22);
    [g17, g18, g20, g24]
}
