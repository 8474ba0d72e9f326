//! Constants of the field, the curve and its order, in limbs of radix 2^52. A test recomputes them.

/// The constant d = -121665 / 121666 of the curve -x^2 + y^2 = 1 + d x^2 y^2. RFC 8032 5.1.
pub(super) const D: [u64; 5] =
    [0xB_4DCA_1359_78A3, 0x4_D414_1D8A_B75E, 0x7_79E8_9800_700A, 0xF_E738_CC74_0797, 0x0_5203_6CEE_2B6F];

/// The constant 2 d.
pub(super) const TWICE_D: [u64; 5] =
    [0x6_9B94_26B2_F159, 0x9_A828_3B15_6EBD, 0xE_F3D1_3000_E014, 0xF_CE71_98E8_0F2E, 0x0_2406_D9DC_56DF];

/// The even square root of -1: 2^((p-1)/4). RFC 8032 5.1.3.
pub(super) const ROOT_OF_MINUS_ONE: [u64; 5] =
    [0xE_1B27_4A0E_A0B0, 0x0_6AD2_FE47_8C4E, 0xD_FBD7_A72F_4318, 0xD_F0B2_B4D0_0993, 0x0_2B83_2480_4FC1];

/// The x of the base point. RFC 8032 5.1.
pub(super) const BASE_X: [u64; 5] =
    [0x6_2D60_8F25_D51A, 0x6_0952_5A7B_2C95, 0xD_D6DC_5C69_2CC7, 0x5_3FEC_0A4E_231F, 0x0_2169_36D3_CD6E];

/// The y of the base point, 4/5.
pub(super) const BASE_Y: [u64; 5] =
    [0x6_6666_6666_6658, 0x6_6666_6666_6666, 0x6_6666_6666_6666, 0x6_6666_6666_6666, 0x0_6666_6666_6666];

/// The field element 1/2.
pub(super) const HALF: [u64; 5] =
    [0xF_FFFF_FFFF_FFF7, 0xF_FFFF_FFFF_FFFF, 0xF_FFFF_FFFF_FFFF, 0xF_FFFF_FFFF_FFFF, 0x0_3FFF_FFFF_FFFF];

/// The field element 1.
pub(super) const ONE: [u64; 5] = [1, 0, 0, 0, 0];

/// A multiple of p whose limbs exceed those of five products, so that a subtraction leaves no limb below zero: 2^58
/// in every limb, minus the residue of that number modulo p (2^266 = 19 * 2^11).
pub(super) const BIAS: [u64; 5] = [(1 << 58) - (19 << 11), BIAS_LIMB, BIAS_LIMB, BIAS_LIMB, BIAS_LIMB];
const BIAS_LIMB: u64 = (1 << 58) - (1 << 6);

/// The order L of the base point: 2^252 + 27742317777372353535851937790883648493. RFC 8032 5.1.
pub(super) const ORDER: [u64; 5] =
    [0x2_631A_5CF5_D3ED, 0xD_EA2F_79CD_6581, 0x0_0000_0014_DEF9, 0x0_0000_0000_0000, 0x0_1000_0000_0000];

/// The constant -1 / L mod 2^52 of Montgomery's reduction.
pub(super) const ORDER_INVERSE: u64 = 0x51DA312547E1B;

/// The constant 2^520 mod L, which brings a scalar to Montgomery form.
pub(super) const ORDER_SQUARED_RADIX: [u64; 5] =
    [0x9_D265_E952_D13B, 0xD_63C7_15BE_A69F, 0x5_BE65_CB68_7604, 0x3_DCEE_C73D_217F, 0x0_0941_1B7C_309A];

/// The order L as 32 bytes, lowest first.
#[rustfmt::skip]
pub(super) const ORDER_BYTES: [u8; 32] = [
    0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
];
