//! Weak and semi-weak keys of DES, with odd parity. FIPS 74 section 3.6; SP 800-67 Rev. 1 3.4.2, tables 1 and 2.

/// Keys under which encrypting twice gives the plaintext back.
pub(super) const WEAK: [u64; 4] =
    [0x0101_0101_0101_0101, 0xFEFE_FEFE_FEFE_FEFE, 0xE0E0_E0E0_F1F1_F1F1, 0x1F1F_1F1F_0E0E_0E0E];

/// Pairs of keys of which each undoes the other's encryption.
pub(super) const SEMI_WEAK: [[u64; 2]; 6] = [
    [0x011F_011F_010E_010E, 0x1F01_1F01_0E01_0E01],
    [0x01E0_01E0_01F1_01F1, 0xE001_E001_F101_F101],
    [0x01FE_01FE_01FE_01FE, 0xFE01_FE01_FE01_FE01],
    [0x1FE0_1FE0_0EF1_0EF1, 0xE01F_E01F_F10E_F10E],
    [0x1FFE_1FFE_0EFE_0EFE, 0xFE1F_FE1F_FE0E_FE0E],
    [0xE0FE_E0FE_F1FE_F1FE, 0xFEE0_FEE0_FEF1_FEF1],
];
