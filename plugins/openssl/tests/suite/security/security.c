/* Programs that an attacker uses: places for outputs that are a byte short, and raised privileges.
 * Usage: security PROGRAM CONFIGURATION KEY PROPERTIES. Prints what was seen; ends with 0 if it could look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Declared here, so that no headers are needed: openssl/crypto.h, provider.h, bio.h, pem.h, evp.h, rsa.h of 3.0. */
typedef void *Handle;
extern Handle OSSL_LIB_CTX_new(void);
extern int OSSL_LIB_CTX_load_config(Handle, const char *);
extern const char *OSSL_PROVIDER_get0_name(Handle);
extern Handle BIO_new_file(const char *, const char *);
extern Handle PEM_read_bio_PrivateKey_ex(Handle, Handle *, Handle, Handle, Handle, const char *);
extern Handle EVP_PKEY_CTX_new_from_pkey(Handle, Handle, const char *);
extern void EVP_PKEY_CTX_free(Handle);
extern Handle EVP_PKEY_CTX_get0_provider(Handle);
extern int EVP_PKEY_CTX_set_rsa_padding(Handle, int);
extern int EVP_PKEY_encrypt_init(Handle);
extern int EVP_PKEY_encrypt(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_PKEY_decrypt_init(Handle);
extern int EVP_PKEY_decrypt(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_PKEY_sign_init(Handle);
extern int EVP_PKEY_sign(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_PKEY_derive_init(Handle);
extern int EVP_PKEY_derive_set_peer(Handle, Handle);
extern int EVP_PKEY_derive(Handle, unsigned char *, size_t *);
extern Handle EVP_MD_CTX_new(void);
extern int EVP_DigestSignInit_ex(Handle, Handle *, const char *, Handle, const char *, Handle, Handle);
extern int EVP_DigestSign(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern void ERR_print_errors_fp(FILE *);
extern void ERR_clear_error(void);

enum { PKCS1 = 1, OAEP = 4, LARGE = 1024 };

static void expect(int is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "not so: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(2);
}

static Handle context;
static const char *properties;

static Handle read_key(const char *path, const char *from) {
    Handle file = BIO_new_file(path, "r");
    expect(file != NULL, "the key's file is read");
    Handle key = PEM_read_bio_PrivateKey_ex(file, NULL, NULL, NULL, context, from);
    expect(key != NULL, "the key is read");
    return key;
}

static Handle begin(Handle key, int (*init)(Handle), int padding) {
    Handle operation = EVP_PKEY_CTX_new_from_pkey(context, key, properties);
    expect(operation != NULL && init(operation) == 1, "an operation begins");
    const char *name = OSSL_PROVIDER_get0_name(EVP_PKEY_CTX_get0_provider(operation));
    expect(strstr(properties, name) != NULL, "the provider that was asked for does it");
    if (padding) expect(EVP_PKEY_CTX_set_rsa_padding(operation, padding) == 1, "the padding is set");
    return operation;
}

static int decrypts(Handle key, int padding, const unsigned char *ciphertext, size_t len, size_t room) {
    unsigned char out[LARGE];
    Handle operation = begin(key, EVP_PKEY_decrypt_init, padding);
    int is_done = EVP_PKEY_decrypt(operation, out, &room, ciphertext, len) == 1;
    ERR_clear_error();
    EVP_PKEY_CTX_free(operation);
    return is_done;
}

/* Whether decryption into a small place succeeds must not depend on the plaintext. */
static void decryption(const char *path) {
    const size_t lens[] = {16, 48, 100};
    const size_t places[] = {48, 255, 256};
    unsigned char message[200] = {7};
    Handle key = read_key(path, properties);
    for (int padding = PKCS1; padding <= OAEP; padding += OAEP - PKCS1) {
        for (int i = 0; i < 3; i++) {
            unsigned char ciphertext[256];
            size_t len = sizeof ciphertext;
            Handle operation = begin(key, EVP_PKEY_encrypt_init, padding);
            expect(EVP_PKEY_encrypt(operation, ciphertext, &len, message, lens[i]) == 1, "a message is encrypted");
            EVP_PKEY_CTX_free(operation);
            for (int j = 0; j < 3; j++)
                printf("padding %d, message %zu, place %zu: %d\n", padding, lens[i], places[j],
                       decrypts(key, padding, ciphertext, len, places[j]));
        }
    }
    int done = 0;
    for (int i = 0; i < 50; i++) {
        unsigned char ciphertext[256] = {0};
        for (int j = 1; j < 256; j++) ciphertext[j] = (unsigned char)(i * 31 + j * 7 + (i * j) % 251);
        done += decrypts(key, PKCS1, ciphertext, sizeof ciphertext, 48);
    }
    printf("of 50 ciphertexts without PKCS #1 padding, %d fit into 48 bytes\n", done);
}

/* A signature or shared secret, each place a byte shorter than the longest one. */
static void signatures(const char *path) {
    unsigned char out[LARGE], digest[32] = {3};
    Handle key = read_key(path, properties);
    Handle operation = begin(key, EVP_PKEY_sign_init, 0);
    size_t most = 0;
    expect(EVP_PKEY_sign(operation, NULL, &most, digest, sizeof digest) == 1, "the length is said");
    int done = 0;
    for (int i = 0; i < 20; i++) {
        size_t room = most - 1;
        digest[0] = (unsigned char)i;
        done += EVP_PKEY_sign(operation, out, &room, digest, sizeof digest) == 1;
        ERR_clear_error();
    }
    size_t room = most;
    printf("most %zu: %d of 20 a byte short, %d at full length\n", most, done,
           EVP_PKEY_sign(operation, out, &room, digest, sizeof digest) == 1);
}

static void agreement(const char *path) {
    unsigned char out[LARGE];
    Handle key = read_key(path, properties);
    Handle operation = begin(key, EVP_PKEY_derive_init, 0);
    expect(EVP_PKEY_derive_set_peer(operation, key) == 1, "the peer is set");
    size_t most = 0, room = 31;
    expect(EVP_PKEY_derive(operation, NULL, &most) == 1, "the length is said");
    int is_short = EVP_PKEY_derive(operation, out, &room) == 1;
    ERR_clear_error();
    room = most;
    printf("most %zu: %d a byte short, %d at full length\n", most, is_short,
           EVP_PKEY_derive(operation, out, &room) == 1);
}

/* Signs as a program does that may read a key which its user may not. */
static void privileged(const char *path) {
    unsigned char signature[LARGE];
    size_t len = sizeof signature;
    printf("uid %d, effective %d\n", (int)getuid(), (int)geteuid());
    Handle key = read_key(path, NULL), signer = EVP_MD_CTX_new();
    int is_signed = EVP_DigestSignInit_ex(signer, NULL, "SHA256", context, NULL, key, NULL) == 1 &&
                    EVP_DigestSign(signer, signature, &len, (const unsigned char *)"hello", 5) == 1;
    if (!is_signed) ERR_print_errors_fp(stderr);
    printf("signed: %d\n", is_signed);
}

int main(int count, char **words) {
    expect(count == 5, "usage: security PROGRAM CONFIGURATION KEY PROPERTIES");
    properties = words[4];
    context = OSSL_LIB_CTX_new();
    expect(OSSL_LIB_CTX_load_config(context, words[2]), "the configuration is loaded");
    if (strcmp(words[1], "decryption") == 0) decryption(words[3]);
    else if (strcmp(words[1], "signatures") == 0) signatures(words[3]);
    else if (strcmp(words[1], "agreement") == 0) agreement(words[3]);
    else if (strcmp(words[1], "privileged") == 0) privileged(words[3]);
    else expect(0, "PROGRAM is decryption, signatures, agreement or privileged");
    return 0;
}
