//! DES and triple-DES key schedules.

use aws_lc_sys as sys;

const BLOCK: usize = 8;

/// A DES schedule, cleansed on drop. AWS-LC's DES looks tables up by a secret index, so it is not constant time.
pub(crate) struct DesKey(sys::DES_key_schedule);

/// The three schedules of triple DES in EDE order.
pub(crate) struct TdesKey([DesKey; 3]);

impl DesKey {
    /// Expands a key. Parity bits are ignored.
    pub(crate) fn new(key: &[u8; BLOCK]) -> Self {
        let mut schedule = Self(sys::DES_key_schedule::default());
        // SAFETY: one key block is read, one owned schedule written.
        unsafe { sys::DES_set_key_unchecked((&raw const *key).cast(), &raw mut schedule.0) };
        schedule
    }

    pub(crate) fn encrypt_block(&self, block: &mut [u8; BLOCK]) {
        let block = c_block(block);
        // SAFETY: one block, in place: the function loads it whole before it stores.
        unsafe { sys::DES_ecb_encrypt(block, block, &raw const self.0, sys::DES_ENCRYPT) };
    }

    /// Encrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn encrypt_cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        self.cbc(sys::DES_ENCRYPT, chain, input, out);
    }

    /// Decrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn decrypt_cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        self.cbc(sys::DES_DECRYPT, chain, input, out);
    }

    fn cbc(&self, direction: i32, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        let (len, key) = (whole_blocks(input, out), &raw const self.0);
        let (from, to) = (input.as_ptr(), out.as_mut_ptr());
        // SAFETY: both slices have at least `len` bytes and do not overlap; the IV and the schedule are live.
        unsafe { sys::DES_ncbc_encrypt(from, to, len, key, c_block(chain), direction) };
    }
}

impl TdesKey {
    /// Expands three keys in EDE order.
    pub(crate) fn new(keys: [&[u8; BLOCK]; 3]) -> Self {
        Self(keys.map(DesKey::new))
    }

    /// Returns the schedule of the first key.
    pub(crate) fn first(&self) -> &DesKey {
        &self.0[0]
    }

    pub(crate) fn encrypt_block(&self, block: &mut [u8; BLOCK]) {
        let (block, [k1, k2, k3]) = (c_block(block), self.schedules());
        // SAFETY: one block, in place: the function loads it whole before it stores.
        unsafe { sys::DES_ecb3_encrypt(block, block, k1, k2, k3, sys::DES_ENCRYPT) };
    }

    /// Encrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn encrypt_cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        self.cbc(sys::DES_ENCRYPT, chain, input, out);
    }

    /// Decrypts the whole blocks of the shorter slice in CBC mode. `chain` becomes the last ciphertext block.
    pub(crate) fn decrypt_cbc(&self, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        self.cbc(sys::DES_DECRYPT, chain, input, out);
    }

    fn cbc(&self, direction: i32, chain: &mut [u8; BLOCK], input: &[u8], out: &mut [u8]) {
        let (len, [k1, k2, k3]) = (whole_blocks(input, out), self.schedules());
        let (from, to) = (input.as_ptr(), out.as_mut_ptr());
        // SAFETY: both slices have at least `len` bytes and do not overlap; the IV and the schedules are live.
        unsafe { sys::DES_ede3_cbc_encrypt(from, to, len, k1, k2, k3, c_block(chain), direction) };
    }

    fn schedules(&self) -> [*const sys::DES_key_schedule; 3] {
        [&raw const self.0[0].0, &raw const self.0[1].0, &raw const self.0[2].0]
    }
}

impl Drop for DesKey {
    fn drop(&mut self) {
        // SAFETY: plain integers, for which all zeros is a value.
        unsafe { sys::OPENSSL_cleanse((&raw mut self.0).cast(), size_of::<sys::DES_key_schedule>()) }
    }
}

fn whole_blocks(input: &[u8], out: &[u8]) -> usize {
    input.len().min(out.len()) / BLOCK * BLOCK
}

/// Returns a pointer to the same eight bytes in the type of the C functions. A copy would have to be cleansed.
fn c_block(block: &mut [u8; BLOCK]) -> *mut sys::DES_cblock {
    const { assert!(size_of::<sys::DES_cblock>() == BLOCK && align_of::<sys::DES_cblock>() == 1) }
    (&raw mut *block).cast()
}
