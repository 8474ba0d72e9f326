//! The S-boxes of DES as two-input gates, one bit of each lane at a time. `cargo xtask sboxes` makes this
//! file from `circuits_two.txt`, and `cargo xtask check` rejects other changes.
//!
//! The input is b1 to b6 as the expansion E gives them. The first output is the most significant bit. FIPS 46-3.

use crate::simd::Vector;

/// S1: 50 gates.
#[inline(always)]
pub(crate) fn s1<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = !b6;
    let g2 = b5 ^ g1;
    let g3 = b5 & g2;
    let g4 = g3 ^ b2;
    let g5 = g2.and_not(g4);
    let g6 = b5 | g5;
    let g7 = b4 & g6;
    let g8 = g2.and_not(g7);
    let g9 = b3 & g6;
    let g10 = g8 ^ g9;
    let g11 = g2 ^ g10;
    let g12 = b4 ^ g4;
    let g13 = g11 & g12;
    let g14 = g5.and_not(g12);
    let g15 = g14 ^ g9;
    let g16 = g7 ^ g15;
    let g17 = b3.and_not(g16);
    let g18 = g17.and_not(g2);
    let g19 = g16.and_not(b3);
    let g20 = g14.and_not(g4);
    let g21 = g19 ^ g20;
    let g22 = g21 | g1;
    let g23 = g13 ^ g22;
    let g24 = g4 ^ b3;
    let g25 = g10.and_not(g24);
    let g26 = g18 ^ g25;
    let g27 = g20 ^ b5;
    let g28 = g27.and_not(g26);
    let g29 = g28.and_not(b1);
    let g30 = g25 ^ g27;
    let g31 = g23 ^ g29;
    let g32 = g21.and_not(g30);
    let g33 = g32 | b1;
    let g34 = g33 ^ g16;
    let g35 = g34 ^ g22;
    let g36 = g7 ^ g35;
    let g37 = g36.and_not(g23);
    let g38 = g10 ^ g37;
    let g39 = g38.and_not(b5);
    let g40 = g31 | g39;
    let g41 = g40 ^ b2;
    let g42 = g41 ^ g35;
    let g43 = g15 ^ g29;
    let g44 = g43.and_not(g22);
    let g45 = g44.and_not(b1);
    let g46 = g32 | g39;
    let g47 = g28 ^ b4;
    let g48 = g46 ^ g47;
    let g49 = g45 ^ g48;
    let g50 = g42 ^ g49;
    [g50, g49, g35, g43]
}

/// S2: 46 gates.
#[inline(always)]
pub(crate) fn s2<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b6 | b3;
    let g2 = b1.and_not(g1);
    let g3 = !b1;
    let g4 = b5 ^ g3;
    let g5 = g4.and_not(b2);
    let g6 = g4 ^ b4;
    let g7 = b5 & g4;
    let g8 = b6.and_not(g7);
    let g9 = g8.and_not(b5);
    let g10 = g9.and_not(g6);
    let g11 = g2 ^ g10;
    let g12 = g5 ^ g11;
    let g13 = g12.and_not(b2);
    let g14 = b6 ^ b4;
    let g15 = g14 ^ g7;
    let g16 = b6.and_not(g15);
    let g17 = g16 ^ b3;
    let g18 = g8.and_not(g17);
    let g19 = g18.and_not(g7);
    let g20 = g19 ^ b3;
    let g21 = g15 ^ g10;
    let g22 = g20 ^ g21;
    let g23 = g13 ^ g22;
    let g24 = g23.and_not(g4);
    let g25 = g15 ^ g24;
    let g26 = g25 | b5;
    let g27 = g21 & g24;
    let g28 = g27.and_not(b6);
    let g29 = g18.and_not(b5);
    let g30 = g28 ^ g29;
    let g31 = g30.and_not(g26);
    let g32 = g14.and_not(g31);
    let g33 = g32 ^ b2;
    let g34 = g33 ^ g28;
    let g35 = g18.and_not(g34);
    let g36 = g35 ^ g6;
    let g37 = g34 ^ g26;
    let g38 = g17 ^ g26;
    let g39 = g38 & g33;
    let g40 = g39.and_not(g30);
    let g41 = g40 ^ g12;
    let g42 = g22 ^ g41;
    let g43 = g36 ^ g34;
    let g44 = g42 ^ g43;
    let g45 = g44 | b3;
    let g46 = g37 ^ g45;
    [g23, g36, g46, g41]
}

/// S3: 47 gates.
#[inline(always)]
pub(crate) fn s3<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b6 ^ b4;
    let g2 = !b5;
    let g3 = g1 ^ g2;
    let g4 = b6.and_not(b5);
    let g5 = g4 | b2;
    let g6 = g5 & b3;
    let g7 = g2 | b4;
    let g8 = g1.and_not(b6);
    let g9 = g8 | b2;
    let g10 = g3 ^ b2;
    let g11 = g10.and_not(g9);
    let g12 = b1.and_not(g11);
    let g13 = g12.and_not(g7);
    let g14 = g13 ^ g4;
    let g15 = g7 ^ b3;
    let g16 = g2 | g15;
    let g17 = g15.and_not(g14);
    let g18 = g17 & g7;
    let g19 = g18 ^ b4;
    let g20 = g3 ^ g6;
    let g21 = g1 ^ g9;
    let g22 = g21 | g6;
    let g23 = g19 ^ g22;
    let g24 = g4 | g17;
    let g25 = g24.and_not(g22);
    let g26 = g23 | g25;
    let g27 = b1.and_not(g26);
    let g28 = g20 ^ g27;
    let g29 = g13 ^ g19;
    let g30 = g29 ^ g3;
    let g31 = g30 ^ b1;
    let g32 = g31 ^ g9;
    let g33 = g29.and_not(g14);
    let g34 = g33 | g28;
    let g35 = b2 & g34;
    let g36 = g35.and_not(g16);
    let g37 = g16 ^ g10;
    let g38 = g37.and_not(b1);
    let g39 = g38 | g25;
    let g40 = g36 ^ g39;
    let g41 = b6.and_not(g17);
    let g42 = g41.and_not(b1);
    let g43 = g30.and_not(g23);
    let g44 = g34 ^ g43;
    let g45 = g44.and_not(g16);
    let g46 = g45.and_not(g42);
    let g47 = g46 ^ g37;
    [g28, g32, g40, g47]
}

/// S4: 30 gates.
#[inline(always)]
pub(crate) fn s4<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = !b3;
    let g2 = b5 ^ g1;
    let g3 = b2 | g2;
    let g4 = b6 ^ b2;
    let g5 = g4 ^ b4;
    let g6 = b4 ^ g3;
    let g7 = b5 ^ b1;
    let g8 = b6 ^ g1;
    let g9 = g5 ^ g8;
    let g10 = g9 | g2;
    let g11 = g5 ^ g10;
    let g12 = g11 ^ g2;
    let g13 = g11.and_not(g10);
    let g14 = g7 & g10;
    let g15 = g8.and_not(g3);
    let g16 = g3 ^ g14;
    let g17 = g13.and_not(g7);
    let g18 = b5 ^ g13;
    let g19 = g16.and_not(g6);
    let g20 = g19 ^ g12;
    let g21 = g15 ^ g17;
    let g22 = g17.and_not(g6);
    let g23 = g15.and_not(g18);
    let g24 = b6 ^ g23;
    let g25 = g24 ^ g14;
    let g26 = g22 ^ g25;
    let g27 = g21 ^ g26;
    let g28 = g20 ^ g27;
    let g29 = g28 ^ g16;
    let g30 = g28 ^ g21;
    [g29, g27, g26, g30]
}

/// S5: 50 gates.
#[inline(always)]
pub(crate) fn s5<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b2 ^ b1;
    let g2 = b1.and_not(b3);
    let g3 = g2 ^ b6;
    let g4 = g2 | g3;
    let g5 = g4 ^ g1;
    let g6 = g5 ^ b2;
    let g7 = g6.and_not(g1);
    let g8 = b6 | g7;
    let g9 = b4.and_not(g8);
    let g10 = g9 ^ b3;
    let g11 = b1.and_not(g6);
    let g12 = g5 & g11;
    let g13 = g12.and_not(b4);
    let g14 = g13 & g4;
    let g15 = g10 ^ g13;
    let g16 = g15 ^ b1;
    let g17 = g16 | b2;
    let g18 = g15 & g17;
    let g19 = g18.and_not(b5);
    let g20 = b4 & g19;
    let g21 = g20 ^ g3;
    let g22 = g5 ^ g3;
    let g23 = g19 ^ g22;
    let g24 = g10 ^ g23;
    let g25 = g23.and_not(g5);
    let g26 = g7.and_not(g24);
    let g27 = b4 ^ g22;
    let g28 = g26 | g27;
    let g29 = b5.and_not(g28);
    let g30 = g21 ^ g29;
    let g31 = g25.and_not(g17);
    let g32 = b3 | g7;
    let g33 = g31 | g32;
    let g34 = g30 ^ g33;
    let g35 = g1 & g34;
    let g36 = g14.and_not(b3);
    let g37 = g36 ^ b1;
    let g38 = g35 ^ g37;
    let g39 = b5 & g38;
    let g40 = b4.and_not(g16);
    let g41 = g40.and_not(g27);
    let g42 = g41 ^ g6;
    let g43 = g24 ^ g18;
    let g44 = g42 ^ g43;
    let g45 = g39 ^ g44;
    let g46 = g45 ^ g36;
    let g47 = g16.and_not(g37);
    let g48 = g47 | b5;
    let g49 = g48 ^ g42;
    let g50 = !g43;
    [g46, g49, g50, g34]
}

/// S6: 48 gates.
#[inline(always)]
pub(crate) fn s6<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b6 | b5;
    let g2 = b1.and_not(g1);
    let g3 = !b2;
    let g4 = g2 ^ g3;
    let g5 = g4 ^ b6;
    let g6 = g5.and_not(b6);
    let g7 = g6.and_not(b1);
    let g8 = g7 ^ b5;
    let g9 = b4 ^ g6;
    let g10 = b5 & g5;
    let g11 = g10.and_not(g9);
    let g12 = g4 | g11;
    let g13 = g11.and_not(g3);
    let g14 = g8 ^ b6;
    let g15 = g14.and_not(b1);
    let g16 = b2 ^ g15;
    let g17 = g16.and_not(g12);
    let g18 = g17.and_not(b4);
    let g19 = g8 ^ g18;
    let g20 = g15.and_not(g18);
    let g21 = b6 ^ g20;
    let g22 = g21 ^ g9;
    let g23 = g1 | g22;
    let g24 = g19 | g10;
    let g25 = g15.and_not(g24);
    let g26 = g23 ^ g25;
    let g27 = g26.and_not(b3);
    let g28 = g16 & g26;
    let g29 = g28 ^ b3;
    let g30 = g16.and_not(g29);
    let g31 = g14.and_not(g2);
    let g32 = g31 ^ b3;
    let g33 = g30 ^ g19;
    let g34 = g27 ^ g33;
    let g35 = g14 ^ g34;
    let g36 = g35 ^ g12;
    let g37 = g17 | g20;
    let g38 = g37 ^ b1;
    let g39 = g38.and_not(g19);
    let g40 = g39.and_not(g32);
    let g41 = g13 ^ g40;
    let g42 = g41 ^ g14;
    let g43 = g25.and_not(g30);
    let g44 = g43.and_not(g29);
    let g45 = g44 ^ g22;
    let g46 = g41 & g45;
    let g47 = g46 & g9;
    let g48 = g47 ^ g33;
    [g36, g42, g45, g48]
}

/// S7: 48 gates.
#[inline(always)]
pub(crate) fn s7<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b4 ^ b2;
    let g2 = b5.and_not(b4);
    let g3 = b6 ^ b2;
    let g4 = g3.and_not(g2);
    let g5 = g1 | g4;
    let g6 = g5 ^ b3;
    let g7 = b5 ^ b2;
    let g8 = b1.and_not(g7);
    let g9 = g7 ^ g6;
    let g10 = g2.and_not(g9);
    let g11 = g10 ^ g3;
    let g12 = b6 & g9;
    let g13 = g11 & g12;
    let g14 = g13.and_not(b1);
    let g15 = !b1;
    let g16 = b5 | g8;
    let g17 = g6 ^ g1;
    let g18 = g17.and_not(b2);
    let g19 = g11 ^ g18;
    let g20 = b4 & g19;
    let g21 = b2.and_not(b4);
    let g22 = g19 ^ b2;
    let g23 = g20.and_not(g17);
    let g24 = g23.and_not(g15);
    let g25 = g24 ^ g6;
    let g26 = g21 ^ g15;
    let g27 = g12 ^ g26;
    let g28 = g27 ^ g6;
    let g29 = g25 ^ g18;
    let g30 = g29 ^ b5;
    let g31 = g30.and_not(g16);
    let g32 = g31 ^ g17;
    let g33 = g32.and_not(b6);
    let g34 = g33 ^ g1;
    let g35 = g34.and_not(g15);
    let g36 = g28 ^ g31;
    let g37 = g35 ^ g36;
    let g38 = g37 ^ g4;
    let g39 = g20 ^ g35;
    let g40 = g1 & g33;
    let g41 = g40.and_not(b6);
    let g42 = g39 | g41;
    let g43 = g26 ^ g42;
    let g44 = g43 ^ g30;
    let g45 = g36 ^ g18;
    let g46 = g45 | b6;
    let g47 = g46 ^ g25;
    let g48 = g14 ^ g22;
    [g38, g44, g47, g48]
}

/// S8: 43 gates.
#[inline(always)]
pub(crate) fn s8<V: Vector>([b1, b2, b3, b4, b5, b6]: [V; 6]) -> [V; 4] {
    let g1 = b3 | b2;
    let g2 = b5 ^ g1;
    let g3 = !b2;
    let g4 = b4 ^ g3;
    let g5 = g4.and_not(b2);
    let g6 = g5 | b1;
    let g7 = b3 ^ g6;
    let g8 = g7.and_not(g2);
    let g9 = g8 ^ g4;
    let g10 = g9 ^ g1;
    let g11 = g10 ^ g5;
    let g12 = g9 ^ b1;
    let g13 = g12 ^ b5;
    let g14 = b3 ^ g13;
    let g15 = g14 ^ g1;
    let g16 = g15.and_not(b5);
    let g17 = g16 ^ g11;
    let g18 = b4.and_not(g15);
    let g19 = g11.and_not(b4);
    let g20 = g18 ^ g12;
    let g21 = g20.and_not(g17);
    let g22 = g21.and_not(g6);
    let g23 = g17 ^ g22;
    let g24 = g18.and_not(g23);
    let g25 = g24 ^ g7;
    let g26 = g3 | g25;
    let g27 = g12 ^ g26;
    let g28 = g19 ^ g14;
    let g29 = g2 & g28;
    let g30 = g27 ^ g29;
    let g31 = b6 | g30;
    let g32 = g31 ^ g17;
    let g33 = g28 ^ g32;
    let g34 = g33.and_not(g22);
    let g35 = b1 & g34;
    let g36 = g35 | b6;
    let g37 = g36 ^ g9;
    let g38 = b6 & g22;
    let g39 = g13 ^ g38;
    let g40 = g23 | b2;
    let g41 = g39 ^ g40;
    let g42 = g33.and_not(b6);
    let g43 = g42 ^ g17;
    [g32, g37, g41, g43]
}
