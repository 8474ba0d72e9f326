//! The S-boxes of DES as three-input gates, one bit of each lane at a time. Made from `circuits.txt` by `cargo xtask sboxes`; what
//! `cargo xtask check` finds changed by hand is an error.
//!
//! The input is b1 to b6 as the expansion E gives them, the output the most significant bit first. FIPS 46-3.

use crate::simd::Vector;

/// S1: 28 gates.
#[inline(always)]
pub(crate) fn s1<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b4.ternary::<0x49>(b5, b6);
    let g2 = b3.ternary::<0xA9>(b5, g1);
    let g3 = b3.ternary::<0x38>(b6, g2);
    let g4 = b5.ternary::<0xA7>(g2, g3);
    let g5 = b1.ternary::<0x74>(b3, b4);
    let g6 = g2.ternary::<0x9B>(g4, g5);
    let g7 = b1.ternary::<0xCA>(g2, g4);
    let g8 = b2.ternary::<0xCA>(g6, g7);
    let g9 = b1.ternary::<0x28>(g1, g8);
    let g10 = b3.ternary::<0xB6>(b2, g9);
    let g11 = b4.ternary::<0x82>(g1, g10);
    let g12 = b1.ternary::<0x94>(g2, g11);
    let g13 = b4.ternary::<0xC7>(b5, g5);
    let g14 = b1.ternary::<0x29>(g4, g13);
    let g15 = g3.ternary::<0x6C>(g10, g14);
    let g16 = g3.ternary::<0x69>(g8, g10);
    let g17 = g14.ternary::<0x06>(b5, g3);
    let g18 = g15.ternary::<0xE8>(g12, g17);
    let g19 = b4.ternary::<0x95>(g14, g18);
    let g20 = b2.ternary::<0xCA>(g12, g19);
    let g21 = b3.ternary::<0x1D>(b5, g14);
    let g22 = b2.ternary::<0xCA>(g21, g14);
    let g23 = b6.ternary::<0xAC>(g15, g22);
    let g24 = g16.ternary::<0xD9>(g21, g13);
    let g25 = g18.ternary::<0x94>(g5, g24);
    let g26 = b3.ternary::<0x1A>(g14, g16);
    let g27 = g11.ternary::<0x86>(g19, g26);
    let g28 = b1.ternary::<0xCA>(g25, g27);
    [g8, g20, g23, g28]
}

/// S2: 27 gates.
#[inline(always)]
pub(crate) fn s2<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b3.ternary::<0x9E>(b4, b5);
    let g2 = b1.ternary::<0x96>(b2, g1);
    let g3 = b2.ternary::<0x6A>(b3, g2);
    let g4 = b1.ternary::<0xBC>(b5, g3);
    let g5 = b2.ternary::<0x5C>(g2, g4);
    let g6 = b4.ternary::<0xA3>(g2, g4);
    let g7 = b3.ternary::<0xCA>(g5, g6);
    let g8 = b1.ternary::<0x38>(b5, g7);
    let g9 = b3.ternary::<0x49>(b5, g5);
    let g10 = b1.ternary::<0x9B>(b3, b6);
    let g11 = b6.ternary::<0xCA>(g3, g7);
    let g12 = b2.ternary::<0x7A>(g6, g11);
    let g13 = g8.ternary::<0x39>(g10, g12);
    let g14 = b4.ternary::<0xB6>(g1, g8);
    let g15 = g2.ternary::<0x47>(g7, g14);
    let g16 = b6.ternary::<0xCA>(g14, g15);
    let g17 = g10.ternary::<0xD2>(b5, g16);
    let g18 = g6.ternary::<0xE9>(g15, g17);
    let g19 = g8.ternary::<0xA2>(b6, b5);
    let g20 = b5.ternary::<0xDA>(g16, g18);
    let g21 = b1.ternary::<0xD6>(g6, g20);
    let g22 = g2.ternary::<0x97>(g9, g21);
    let g23 = g13.ternary::<0x78>(b4, g22);
    let g24 = b2.ternary::<0xCA>(g16, g18);
    let g25 = g11.ternary::<0x96>(b2, g19);
    let g26 = g3.ternary::<0xCA>(g9, g20);
    let g27 = g23.ternary::<0xCA>(g25, g26);
    [g23, g11, g24, g27]
}

/// S3: 26 gates.
#[inline(always)]
pub(crate) fn s3<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.ternary::<0x16>(b3, b4);
    let g2 = b4.ternary::<0xE9>(b5, g1);
    let g3 = b2.ternary::<0x36>(b4, g2);
    let g4 = b3.ternary::<0x29>(b1, g3);
    let g5 = b2.ternary::<0x99>(b5, g4);
    let g6 = b2.ternary::<0xA1>(g2, g5);
    let g7 = b3.ternary::<0xE4>(b4, b5);
    let g8 = b2.ternary::<0x96>(b6, g7);
    let g9 = b4.ternary::<0xB9>(b6, g6);
    let g10 = g2.ternary::<0xD8>(g3, g8);
    let g11 = b1.ternary::<0x39>(g1, g9);
    let g12 = g6.ternary::<0x78>(g10, g11);
    let g13 = b4.ternary::<0x1F>(g9, g12);
    let g14 = b3.ternary::<0x96>(g8, g13);
    let g15 = g2.ternary::<0x3A>(g7, g14);
    let g16 = g2.ternary::<0x58>(g9, g7);
    let g17 = g13.ternary::<0xA6>(g14, g16);
    let g18 = g9.ternary::<0xE4>(g13, g15);
    let g19 = b1.ternary::<0xCA>(g18, g17);
    let g20 = b1.ternary::<0x04>(g5, g2);
    let g21 = g10.ternary::<0x24>(g15, g20);
    let g22 = b1.ternary::<0xC9>(g14, g21);
    let g23 = g11.ternary::<0x6B>(g12, g19);
    let g24 = g3.ternary::<0x87>(g9, g23);
    let g25 = b4.ternary::<0xCA>(g12, g24);
    let g26 = b1.ternary::<0xAC>(g8, g10);
    [g19, g22, g25, g26]
}

/// S4: 19 gates.
#[inline(always)]
pub(crate) fn s4<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.ternary::<0x9D>(b4, b5);
    let g2 = b2.ternary::<0xA9>(b3, g1);
    let g3 = b1.ternary::<0xB6>(b5, g2);
    let g4 = g1.ternary::<0xD5>(g2, b2);
    let g5 = b3.ternary::<0xC9>(g3, g4);
    let g6 = b2.ternary::<0x96>(b4, g3);
    let g7 = g6.ternary::<0xE5>(b3, g4);
    let g8 = g5.ternary::<0xB8>(g7, g2);
    let g9 = b5.ternary::<0x4B>(b2, b3);
    let g10 = b5.ternary::<0x92>(g8, g5);
    let g11 = b1.ternary::<0xC9>(g2, g10);
    let g12 = g8.ternary::<0x9A>(g11, g9);
    let g13 = b3.ternary::<0x99>(g6, g12);
    let g14 = b6.ternary::<0xCA>(g11, g13);
    let g15 = g5.ternary::<0x8E>(g7, g11);
    let g16 = b6.ternary::<0x5C>(g11, g13);
    let g17 = g13.ternary::<0x96>(b4, g15);
    let g18 = b6.ternary::<0xCA>(g7, g17);
    let g19 = b6.ternary::<0xA3>(g7, g17);
    [g14, g16, g18, g19]
}

/// S5: 28 gates.
#[inline(always)]
pub(crate) fn s5<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1.ternary::<0x52>(b6, b3);
    let g2 = b4.ternary::<0xA6>(b6, g1);
    let g3 = b1.ternary::<0x64>(b4, b6);
    let g4 = b1.ternary::<0x41>(b6, g3);
    let g5 = b3.ternary::<0xB6>(b6, g4);
    let g6 = b5.ternary::<0xAC>(g5, g2);
    let g7 = b1.ternary::<0x74>(g2, g6);
    let g8 = b3.ternary::<0x65>(b5, g2);
    let g9 = b4.ternary::<0xAC>(g7, g8);
    let g10 = b2.ternary::<0x96>(g3, g6);
    let g11 = g2.ternary::<0x9B>(g8, g10);
    let g12 = g5.ternary::<0xE5>(g7, g11);
    let g13 = b2.ternary::<0x69>(g5, g7);
    let g14 = b5.ternary::<0x96>(g4, g13);
    let g15 = b3.ternary::<0xA7>(g6, g3);
    let g16 = b2.ternary::<0xAC>(g6, g9);
    let g17 = g5.ternary::<0xF8>(g14, g16);
    let g18 = b5.ternary::<0xA6>(g8, g12);
    let g19 = g4.ternary::<0x98>(g15, g18);
    let g20 = g17.ternary::<0xBE>(g16, g15);
    let g21 = b5.ternary::<0xA9>(b2, g20);
    let g22 = g17.ternary::<0xE8>(g21, g19);
    let g23 = g9.ternary::<0xA3>(g12, g22);
    let g24 = b4.ternary::<0xC9>(g14, g19);
    let g25 = g21.ternary::<0x94>(g18, g24);
    let g26 = g18.ternary::<0x52>(g10, b3);
    let g27 = g25.ternary::<0x96>(g19, g26);
    let g28 = g14.ternary::<0xCA>(g27, g25);
    [g23, g24, g16, g28]
}

/// S6: 27 gates.
#[inline(always)]
pub(crate) fn s6<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.ternary::<0x16>(b5, b3);
    let g2 = b6.ternary::<0x94>(b2, b1);
    let g3 = b2.ternary::<0x9B>(b1, b5);
    let g4 = b3.ternary::<0x9E>(g1, g3);
    let g5 = b1.ternary::<0xA4>(b3, g1);
    let g6 = b6.ternary::<0xCA>(g4, g5);
    let g7 = b5.ternary::<0x93>(g6, g2);
    let g8 = b4.ternary::<0xCA>(g7, g6);
    let g9 = b5.ternary::<0xB4>(b2, g7);
    let g10 = g1.ternary::<0x58>(g3, g2);
    let g11 = b4.ternary::<0x86>(g2, g9);
    let g12 = g4.ternary::<0x6A>(g9, g11);
    let g13 = b5.ternary::<0x56>(g1, g11);
    let g14 = b1.ternary::<0x69>(b6, g1);
    let g15 = b4.ternary::<0xCA>(g10, g14);
    let g16 = b4.ternary::<0x65>(g1, g4);
    let g17 = b5.ternary::<0x97>(g1, g8);
    let g18 = b2.ternary::<0xCA>(g16, g17);
    let g19 = b6.ternary::<0xCA>(g13, g18);
    let g20 = b2.ternary::<0x78>(g16, b1);
    let g21 = g14.ternary::<0x86>(g17, g20);
    let g22 = g4.ternary::<0xCA>(g15, g21);
    let g23 = b2.ternary::<0x64>(g8, b1);
    let g24 = b5.ternary::<0x96>(g19, g23);
    let g25 = b6.ternary::<0xA6>(g20, g24);
    let g26 = b1.ternary::<0xCA>(g25, g12);
    let g27 = g22.ternary::<0xCA>(g26, g24);
    [g19, g22, g8, g27]
}

/// S7: 29 gates.
#[inline(always)]
pub(crate) fn s7<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.ternary::<0x49>(b4, b5);
    let g2 = b5.ternary::<0x58>(b3, b4);
    let g3 = b2.ternary::<0xA9>(b3, g2);
    let g4 = b3.ternary::<0x4E>(g3, g1);
    let g5 = b6.ternary::<0xA3>(g3, g4);
    let g6 = b3.ternary::<0x84>(b1, g1);
    let g7 = b6.ternary::<0xCA>(g6, g3);
    let g8 = b1.ternary::<0xCA>(g7, g5);
    let g9 = b5.ternary::<0x32>(g8, g2);
    let g10 = b2.ternary::<0x95>(b3, g9);
    let g11 = b3.ternary::<0x79>(b4, b1);
    let g12 = b2.ternary::<0x25>(g1, g11);
    let g13 = b3.ternary::<0xE0>(g1, g12);
    let g14 = g10.ternary::<0xCA>(g12, g13);
    let g15 = b3.ternary::<0x3D>(b6, g12);
    let g16 = b1.ternary::<0x94>(b2, g15);
    let g17 = b4.ternary::<0xB9>(b5, g16);
    let g18 = g11.ternary::<0xA6>(g8, g1);
    let g19 = g2.ternary::<0x26>(b6, g18);
    let g20 = b4.ternary::<0xCA>(g19, g17);
    let g21 = g5.ternary::<0x96>(g14, g17);
    let g22 = b1.ternary::<0xB2>(b3, b6);
    let g23 = g2.ternary::<0xCA>(g21, g22);
    let g24 = b1.ternary::<0x46>(b4, g8);
    let g25 = g10.ternary::<0x66>(g24, g16);
    let g26 = g5.ternary::<0xB6>(g23, g25);
    let g27 = g1.ternary::<0xCA>(g26, g23);
    let g28 = g1.ternary::<0xCA>(g24, g10);
    let g29 = b6.ternary::<0xCA>(g14, g28);
    [g27, g20, g29, g8]
}

/// S8: 27 gates.
#[inline(always)]
pub(crate) fn s8<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1.ternary::<0x2C>(b3, b5);
    let g2 = b4.ternary::<0xA9>(b5, g1);
    let g3 = b4.ternary::<0xF2>(b3, g2);
    let g4 = b1.ternary::<0xD9>(b6, g3);
    let g5 = b5.ternary::<0x92>(b1, g3);
    let g6 = g5.ternary::<0xB5>(b4, g4);
    let g7 = b2.ternary::<0x6D>(b3, g4);
    let g8 = b1.ternary::<0x93>(b6, g7);
    let g9 = g5.ternary::<0x96>(b1, g8);
    let g10 = g3.ternary::<0x97>(b3, g6);
    let g11 = b6.ternary::<0xCA>(g5, g2);
    let g12 = b2.ternary::<0xCA>(g10, g11);
    let g13 = g10.ternary::<0x6E>(g12, g5);
    let g14 = b2.ternary::<0x69>(b3, g4);
    let g15 = b4.ternary::<0x69>(g6, g9);
    let g16 = b1.ternary::<0xCA>(g15, g14);
    let g17 = g16.ternary::<0x4A>(g4, b3);
    let g18 = b4.ternary::<0x9C>(g14, g17);
    let g19 = b3.ternary::<0xA6>(g15, g13);
    let g20 = g17.ternary::<0x7A>(b2, g19);
    let g21 = b5.ternary::<0xCA>(g18, g20);
    let g22 = g2.ternary::<0xCA>(g16, g9);
    let g23 = b2.ternary::<0x75>(b5, g3);
    let g24 = g22.ternary::<0x96>(g21, g23);
    let g25 = g1.ternary::<0xC1>(g9, g3);
    let g26 = g24.ternary::<0xA7>(g2, g25);
    let g27 = g12.ternary::<0xCA>(g24, g26);
    [g21, g22, g27, g12]
}
