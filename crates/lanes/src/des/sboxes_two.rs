//! The S-boxes of DES as two-input gates, one bit of each lane at a time. `cargo xtask sboxes` makes this
//! file from `circuits_two.txt`, and `cargo xtask check` rejects other changes.
//!
//! The input is b1 to b6 as the expansion E gives them. The first output is the most significant bit. FIPS 46-3.

use crate::simd::Vector;

/// S1: 49 gates.
#[inline(always)]
pub(crate) fn s1<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b5.and_not(b1);
    let g2 = b4 ^ g1;
    let g3 = b3 | b6;
    let g4 = b1 ^ b3;
    let g5 = g3 & g4;
    let g6 = b4 ^ g5;
    let g7 = g2.and_not(g6);
    let g8 = b5 ^ b6;
    let g9 = b3 ^ g8;
    let g10 = g9.and_not(g2);
    let g11 = b6 | g5;
    let g12 = g10 ^ g11;
    let g13 = g7.and_not(g12);
    let g14 = b1 | b6;
    let g15 = g12 | g14;
    let g16 = g6.and_not(b5);
    let g17 = g15 ^ g16;
    let g18 = g14.and_not(b4);
    let g19 = g16 ^ g18;
    let g20 = g4.and_not(g8);
    let g21 = g19 | g20;
    let g22 = g1.and_not(b3);
    let g23 = g2 ^ g15;
    let g24 = g22.and_not(g23);
    let g25 = !g24;
    let g26 = g3 & g12;
    let g27 = g25 ^ g26;
    let g28 = g8 ^ g24;
    let g29 = g16 | g28;
    let g30 = g3 ^ g29;
    let g31 = b1 ^ g30;
    let g32 = g27 ^ g31;
    let g33 = g21.and_not(g2);
    let g34 = g28 ^ g33;
    let g35 = g16 ^ g30;
    let g36 = g35.and_not(g32);
    let g37 = g34 ^ g36;
    let g38 = g9 ^ g20;
    let g39 = g14 ^ g36;
    let g40 = g38.and_not(g39);
    let g41 = g37 ^ g40;
    let g42 = g7 | b2;
    let g43 = g42 ^ g32;
    let g44 = g13.and_not(b2);
    let g45 = g44 ^ g37;
    let g46 = b2.and_not(g17);
    let g47 = g46 ^ g27;
    let g48 = g41 | b2;
    let g49 = g48 ^ g21;
    [g43, g45, g47, g49]
}

/// S2: 44 gates.
#[inline(always)]
pub(crate) fn s2<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2 ^ b5;
    let g2 = b6.and_not(b1);
    let g3 = g2.and_not(b5);
    let g4 = b2 | g3;
    let g5 = b6.and_not(g1);
    let g6 = b1 & g1;
    let g7 = b5 ^ g6;
    let g8 = g5.and_not(g7);
    let g9 = b3 & b6;
    let g10 = g3 ^ g5;
    let g11 = g4 & g10;
    let g12 = g9.and_not(g11);
    let g13 = b3 & g11;
    let g14 = !b1;
    let g15 = g13 ^ g14;
    let g16 = b6 ^ g1;
    let g17 = g9.and_not(g16);
    let g18 = g15 ^ g17;
    let g19 = g17.and_not(b2);
    let g20 = g7 ^ g19;
    let g21 = g20.and_not(g15);
    let g22 = b3 ^ g16;
    let g23 = g21 ^ g22;
    let g24 = g13 ^ g19;
    let g25 = g22 | g24;
    let g26 = g4 ^ g18;
    let g27 = g9 | g26;
    let g28 = g25 ^ g27;
    let g29 = g23.and_not(g18);
    let g30 = g6 ^ g24;
    let g31 = g29 | g30;
    let g32 = g22.and_not(g8);
    let g33 = g31 ^ g32;
    let g34 = g20.and_not(g33);
    let g35 = g16 | g26;
    let g36 = g34 ^ g35;
    let g37 = b4.and_not(g4);
    let g38 = g37 ^ g23;
    let g39 = g12.and_not(b4);
    let g40 = g39 ^ g18;
    let g41 = g33 | b4;
    let g42 = g41 ^ g28;
    let g43 = g8 | b4;
    let g44 = g43 ^ g36;
    [g38, g40, g42, g44]
}

/// S3: 46 gates.
#[inline(always)]
pub(crate) fn s3<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.and_not(b1);
    let g2 = b3 ^ b6;
    let g3 = g1 | g2;
    let g4 = b4 ^ b6;
    let g5 = b1.and_not(g4);
    let g6 = g3 ^ g5;
    let g7 = b2 ^ g2;
    let g8 = b6.and_not(g7);
    let g9 = g3 ^ g8;
    let g10 = g9.and_not(g6);
    let g11 = b6 & g6;
    let g12 = b4 | g11;
    let g13 = b1 & g12;
    let g14 = g7 ^ g13;
    let g15 = g2 & g4;
    let g16 = b1 ^ b4;
    let g17 = g9 ^ g16;
    let g18 = b3 | g17;
    let g19 = g15.and_not(g18);
    let g20 = g5 | g16;
    let g21 = g20.and_not(g14);
    let g22 = b4 & b6;
    let g23 = b2.and_not(g22);
    let g24 = g21 ^ g23;
    let g25 = b3.and_not(g24);
    let g26 = g7 | g22;
    let g27 = g25.and_not(g26);
    let g28 = b1 ^ g27;
    let g29 = b2.and_not(g6);
    let g30 = b3.and_not(g29);
    let g31 = !g7;
    let g32 = g20 ^ g31;
    let g33 = g30 ^ g32;
    let g34 = g30 | g32;
    let g35 = g5 | g29;
    let g36 = g34 ^ g35;
    let g37 = g6.and_not(b4);
    let g38 = g36 | g37;
    let g39 = g10.and_not(b5);
    let g40 = g39 ^ g33;
    let g41 = g19 & b5;
    let g42 = g41 ^ g28;
    let g43 = g24.and_not(b5);
    let g44 = g43 ^ g38;
    let g45 = b5.and_not(g6);
    let g46 = g45 ^ g14;
    [g40, g42, g44, g46]
}

/// S4: 33 gates.
#[inline(always)]
pub(crate) fn s4<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1 ^ b3;
    let g2 = b3 ^ b5;
    let g3 = b2 | b4;
    let g4 = b5 ^ g3;
    let g5 = g4.and_not(g2);
    let g6 = b2.and_not(g2);
    let g7 = b4 ^ g6;
    let g8 = g1 | g7;
    let g9 = g5.and_not(g8);
    let g10 = b2 ^ g9;
    let g11 = g7 & g10;
    let g12 = g11.and_not(g2);
    let g13 = g1 ^ g10;
    let g14 = g12.and_not(g13);
    let g15 = g5 ^ g14;
    let g16 = b2 ^ b4;
    let g17 = b5 | g6;
    let g18 = g13 ^ g17;
    let g19 = g16.and_not(g18);
    let g20 = g9 ^ g19;
    let g21 = !g20;
    let g22 = g15 ^ g21;
    let g23 = g16.and_not(g22);
    let g24 = g11 | g23;
    let g25 = g18 ^ g24;
    let g26 = g15.and_not(b6);
    let g27 = g26 ^ g20;
    let g28 = b6.and_not(g15);
    let g29 = g28 ^ g21;
    let g30 = g10 | b6;
    let g31 = g30 ^ g25;
    let g32 = g10 & b6;
    let g33 = g32 ^ g25;
    [g27, g29, g31, g33]
}

/// S5: 48 gates.
#[inline(always)]
pub(crate) fn s5<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b1 | b3;
    let g2 = b6.and_not(g1);
    let g3 = b1 ^ g2;
    let g4 = b3 ^ g3;
    let g5 = b4 | g4;
    let g6 = b4.and_not(g2);
    let g7 = b3 ^ g6;
    let g8 = b5 & g7;
    let g9 = b1 | g4;
    let g10 = g8 ^ g9;
    let g11 = b4 ^ g10;
    let g12 = b6 ^ g11;
    let g13 = g3 | g12;
    let g14 = b5 & g13;
    let g15 = g3 ^ g14;
    let g16 = b4 & g9;
    let g17 = g15 ^ g16;
    let g18 = b1.and_not(g13);
    let g19 = g7 ^ g18;
    let g20 = b5 ^ g5;
    let g21 = g19.and_not(g20);
    let g22 = !g21;
    let g23 = g14.and_not(g7);
    let g24 = g18 ^ g20;
    let g25 = g17 | g24;
    let g26 = g23.and_not(g25);
    let g27 = g26.and_not(g5);
    let g28 = g12 & g26;
    let g29 = g20 ^ g28;
    let g30 = g7 & g9;
    let g31 = g29 | g30;
    let g32 = g14 ^ g31;
    let g33 = b1 ^ g1;
    let g34 = g26 ^ g33;
    let g35 = b4 & g29;
    let g36 = g34 ^ g35;
    let g37 = g5 ^ g7;
    let g38 = g36.and_not(g37);
    let g39 = g3 ^ g29;
    let g40 = g38 ^ g39;
    let g41 = g27 | b2;
    let g42 = g41 ^ g36;
    let g43 = g5 & b2;
    let g44 = g43 ^ g40;
    let g45 = b2.and_not(g22);
    let g46 = g45 ^ g11;
    let g47 = g32 & b2;
    let g48 = g47 ^ g17;
    [g42, g44, g46, g48]
}

/// S6: 46 gates.
#[inline(always)]
pub(crate) fn s6<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2 ^ b5;
    let g2 = b2 | b6;
    let g3 = b1 & g2;
    let g4 = g1 ^ g3;
    let g5 = b6 ^ g4;
    let g6 = g5.and_not(b5);
    let g7 = b1 & g5;
    let g8 = b2 ^ g7;
    let g9 = b1 ^ b3;
    let g10 = g8 | g9;
    let g11 = g4 ^ g10;
    let g12 = b3 & g11;
    let g13 = b6.and_not(g12);
    let g14 = g6 | g8;
    let g15 = g13 ^ g14;
    let g16 = b2 ^ g10;
    let g17 = g16.and_not(b6);
    let g18 = b3 ^ g17;
    let g19 = g12.and_not(b5);
    let g20 = g18 | g19;
    let g21 = b2 | g9;
    let g22 = g15 ^ g21;
    let g23 = g3 | g20;
    let g24 = g22 ^ g23;
    let g25 = b1 | g11;
    let g26 = g14 & g25;
    let g27 = g18 ^ g26;
    let g28 = g13.and_not(g27);
    let g29 = g4 ^ g27;
    let g30 = g29.and_not(b5);
    let g31 = !g21;
    let g32 = g16 ^ g31;
    let g33 = g30 ^ g32;
    let g34 = b6 ^ g7;
    let g35 = b1 ^ g18;
    let g36 = g34 & g35;
    let g37 = g12 ^ g32;
    let g38 = g36 ^ g37;
    let g39 = b4.and_not(g20);
    let g40 = g39 ^ g38;
    let g41 = b4.and_not(g33);
    let g42 = g41 ^ g24;
    let g43 = g6 | b4;
    let g44 = g43 ^ g28;
    let g45 = g15 & b4;
    let g46 = g45 ^ g11;
    [g40, g42, g44, g46]
}

/// S7: 46 gates.
#[inline(always)]
pub(crate) fn s7<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b4 ^ b5;
    let g2 = b3 ^ g1;
    let g3 = b6 & g2;
    let g4 = b5.and_not(b4);
    let g5 = b2 ^ g4;
    let g6 = g3 & g5;
    let g7 = b6 & g4;
    let g8 = b3 ^ g7;
    let g9 = g5 | g8;
    let g10 = b6 ^ g1;
    let g11 = g9 ^ g10;
    let g12 = g2.and_not(b5);
    let g13 = g5 | g12;
    let g14 = g3 ^ g8;
    let g15 = g13 ^ g14;
    let g16 = g3 ^ g10;
    let g17 = g16.and_not(b4);
    let g18 = g17.and_not(g5);
    let g19 = b5 ^ g14;
    let g20 = g18 ^ g19;
    let g21 = g7.and_not(g16);
    let g22 = g17 | g21;
    let g23 = b2 ^ g9;
    let g24 = g20 & g23;
    let g25 = g22 ^ g24;
    let g26 = b3.and_not(g5);
    let g27 = g21 | g26;
    let g28 = g4 | g20;
    let g29 = g27 & g28;
    let g30 = g25 ^ g29;
    let g31 = g15 | g22;
    let g32 = g12 ^ g31;
    let g33 = b6 & g32;
    let g34 = g29 ^ g33;
    let g35 = !g15;
    let g36 = g25 ^ g35;
    let g37 = b2.and_not(g33);
    let g38 = g36 ^ g37;
    let g39 = b1.and_not(g34);
    let g40 = g39 ^ g15;
    let g41 = g30.and_not(b1);
    let g42 = g41 ^ g38;
    let g43 = g25 & b1;
    let g44 = g43 ^ g20;
    let g45 = g6.and_not(b1);
    let g46 = g45 ^ g11;
    [g40, g42, g44, g46]
}

/// S8: 41 gates.
#[inline(always)]
pub(crate) fn s8<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2.and_not(b3);
    let g2 = b3.and_not(b5);
    let g3 = b4 ^ g2;
    let g4 = b1 & g3;
    let g5 = g1.and_not(g4);
    let g6 = g3.and_not(b2);
    let g7 = b1 | g6;
    let g8 = b3.and_not(b2);
    let g9 = b5 ^ g8;
    let g10 = g7 & g9;
    let g11 = g4 | g10;
    let g12 = g3 ^ g10;
    let g13 = !g12;
    let g14 = g7.and_not(b3);
    let g15 = g13 ^ g14;
    let g16 = g1 ^ g15;
    let g17 = b1 ^ g16;
    let g18 = b5 & g17;
    let g19 = g6 ^ g18;
    let g20 = b2 ^ g15;
    let g21 = g19 ^ g20;
    let g22 = g19.and_not(b2);
    let g23 = g22.and_not(g17);
    let g24 = b5 ^ g21;
    let g25 = g23 ^ g24;
    let g26 = b4 | g20;
    let g27 = g24 ^ g26;
    let g28 = b1 ^ g8;
    let g29 = g27 ^ g28;
    let g30 = g3 ^ g26;
    let g31 = g30.and_not(g27);
    let g32 = g1.and_not(g28);
    let g33 = g31 ^ g32;
    let g34 = g33 | b6;
    let g35 = g34 ^ g21;
    let g36 = g5 | b6;
    let g37 = g36 ^ g16;
    let g38 = b6.and_not(g11);
    let g39 = g38 ^ g25;
    let g40 = g29 & b6;
    let g41 = g40 ^ g21;
    [g35, g37, g39, g41]
}
