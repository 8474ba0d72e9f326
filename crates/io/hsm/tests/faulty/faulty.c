/* A PKCS#11 module with faults. It passes all calls to the module FAULTY_MODULE, but for the faults that files in the
 * directory FAULTY_DIR name: `NAME` makes every call fail so, `once.NAME` only the next one, which removes the file.
 * A file with a number is a fault of that slot alone. A call that hangs reads the FIFO `gate` until its writers have closed it. Each login adds a byte to `logins`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long ulong;
typedef unsigned char byte;

typedef ulong get_functions_call(void *list);
typedef ulong slot_list_call(byte present, ulong *slots, ulong *count);
typedef ulong token_info_call(ulong slot, byte *info);
typedef ulong mechanism_list_call(ulong slot, ulong *list, ulong *count);
typedef ulong open_call(ulong slot, ulong flags, void *app, void *notify, ulong *session);
typedef ulong session_call(ulong session);
typedef ulong login_call(ulong session, ulong user, byte *pin, ulong len);
typedef ulong find_call(ulong session, ulong *objects, ulong max, ulong *count);
struct attribute {
    ulong type;
    byte *value;
    ulong len;
};
typedef ulong attribute_call(ulong session, ulong object, struct attribute *list, ulong count);
typedef ulong sign_init_call(ulong session, void *mechanism, ulong key);
typedef ulong sign_call(ulong session, byte *data, ulong data_len, byte *signature, ulong *len);

/* CK_FUNCTION_LIST of PKCS#11 2.40: a version, and 68 functions in this order. */
enum {
    GET_FUNCTION_LIST = 3, GET_SLOT_LIST = 4, GET_TOKEN_INFO = 6, GET_MECHANISM_LIST = 7,
    OPEN_SESSION = 12, CLOSE_SESSION = 13, LOGIN = 18, LOGOUT = 19, GET_ATTRIBUTE_VALUE = 24,
    FIND_OBJECTS = 27,
    SIGN_INIT = 42, SIGN = 43, FUNCTIONS = 68
};
struct functions {
    byte major, minor;
    void *call[FUNCTIONS];
};

enum {
    OK = 0x00, DEVICE_ERROR = 0x30, DEVICE_REMOVED = 0x32, SESSION_COUNT = 0xB1, SESSION_HANDLE_INVALID = 0xB3,
    TOKEN_NOT_PRESENT = 0xE0, USER_NOT_LOGGED_IN = 0x101, RSA_X_509 = 0x03, AES_GCM = 0x1087, VALUE = 0x11,
    PIN_LOCKED_FLAG = 0x00040000, PIN_FINAL_TRY_FLAG = 0x00020000
};

static struct functions real, faulty;
static int sessions;

/* The slots of sessions by their handles, which are small, and the slot of this thread's call. */
static ulong slot_of[4096];
static __thread ulong current_slot;

static void enter(ulong session) {
    current_slot = slot_of[session % 4096];
}

static void path_of(char path[4096], const char *prefix, const char *name) {
    const char *directory = getenv("FAULTY_DIR");
    snprintf(path, 4096, "%s/%s%s", directory ? directory : "/nonexistent", prefix, name);
}

/* True if a fault is due now. */
static int has(const char *name) {
    char path[4096];
    path_of(path, "once.", name);
    if (unlink(path) == 0) return 1;
    path_of(path, "", name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    ulong wanted;
    int found = fscanf(file, "%lu", &wanted);
    fclose(file);
    return found != 1 || wanted == current_slot;
}

static void hang(void) {
    char path[4096], c;
    path_of(path, "", "gate");
    int gate = open(path, O_RDONLY);
    while (gate >= 0 && read(gate, &c, 1) > 0) {}
    if (gate >= 0) close(gate);
}

static void *forever(void *unused) {
    (void)unused;
    for (;;) pause();
    return NULL;
}

static ulong get_slot_list(byte present, ulong *slots, ulong *count) {
    if (has("removed")) {
        *count = 0;
        return OK;
    }
    return ((slot_list_call *)real.call[GET_SLOT_LIST])(present, slots, count);
}

/* CK_TOKEN_INFO begins with 32 + 32 + 16 + 16 bytes of text, and then has the flags. */
static ulong get_token_info(ulong slot, byte *info) {
    current_slot = slot;
    ulong flags, result = ((token_info_call *)real.call[GET_TOKEN_INFO])(slot, info);
    memcpy(&flags, info + 96, sizeof flags);
    if (has("locked")) flags |= PIN_LOCKED_FLAG;
    if (has("final_try")) flags |= PIN_FINAL_TRY_FLAG;
    memcpy(info + 96, &flags, sizeof flags);
    return result;
}

static ulong get_mechanism_list(ulong slot, ulong *list, ulong *count) {
    ulong result = ((mechanism_list_call *)real.call[GET_MECHANISM_LIST])(slot, list, count);
    ulong hidden = list && has("no_raw_rsa") ? RSA_X_509 : list && has("no_gcm") ? AES_GCM : 0;
    for (ulong i = 0; hidden && i < *count; i++)
        if (list[i] == hidden) list[i] = list[0];
    return result;
}

static ulong open_session(ulong slot, ulong flags, void *app, void *notify, ulong *session) {
    current_slot = slot;
    if (has("removed")) return TOKEN_NOT_PRESENT;
    if (has("one_session") && __atomic_load_n(&sessions, __ATOMIC_SEQ_CST) > 0) return SESSION_COUNT;
    ulong result = ((open_call *)real.call[OPEN_SESSION])(slot, flags, app, notify, session);
    if (result != OK) return result;
    slot_of[*session % 4096] = slot;
    __atomic_fetch_add(&sessions, 1, __ATOMIC_SEQ_CST);
    return result;
}

static ulong close_session(ulong session) {
    ulong result = ((session_call *)real.call[CLOSE_SESSION])(session);
    if (result == OK) __atomic_fetch_sub(&sessions, 1, __ATOMIC_SEQ_CST);
    return result;
}

static ulong login(ulong session, ulong user, byte *pin, ulong len) {
    enter(session);
    char path[4096];
    path_of(path, "", "logins");
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log < 0 || write(log, "x", 1) != 1) abort();
    close(log);
    if (has("hang_login")) hang();
    return ((login_call *)real.call[LOGIN])(session, user, pin, len);
}

static ulong get_attribute_value(ulong session, ulong object, struct attribute *list, ulong count) {
    enter(session);
    ulong result = ((attribute_call *)real.call[GET_ATTRIBUTE_VALUE])(session, object, list, count);
    if (result == OK && count == 1 && list->type == VALUE && list->value && has("wrong_secret")) list->value[3] ^= 1;
    return result;
}

static ulong find_objects(ulong session, ulong *objects, ulong max, ulong *count) {
    enter(session);
    ulong result = ((find_call *)real.call[FIND_OBJECTS])(session, objects, max, count);
    if (has("count_lie")) *count = max + 7;
    return result;
}

static ulong sign_init(ulong session, void *mechanism, ulong key) {
    enter(session);
    if (has("removed")) return DEVICE_REMOVED;
    if (has("removed_briefly")) return DEVICE_REMOVED;
    if (has("device_error")) return DEVICE_ERROR;
    if (has("logged_out")) {
        ((session_call *)real.call[LOGOUT])(session);
        return USER_NOT_LOGGED_IN;
    }
    if (has("no_session")) {
        close_session(session);
        return SESSION_HANDLE_INVALID;
    }
    return ((sign_init_call *)real.call[SIGN_INIT])(session, mechanism, key);
}

static ulong sign(ulong session, byte *data, ulong data_len, byte *signature, ulong *len) {
    enter(session);
    if (!signature) {
        ulong result = ((sign_call *)real.call[SIGN])(session, data, data_len, signature, len);
        if (has("long")) *len += 64;
        if (has("huge")) *len = ~0ul;
        if (has("tiny")) *len = 1;
        return result;
    }
    if (has("hang")) hang();
    if (has("crash")) *(volatile int *)0 = 1;
    if (has("print")) {
        printf("a module that prints\n");
        fflush(stdout);
    }
    if (has("thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, forever, NULL) == 0) pthread_detach(thread);
    }
    if (has("fork")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    ulong room = *len;
    ulong result = ((sign_call *)real.call[SIGN])(session, data, data_len, signature, len);
    if (result != OK) return result;
    if (has("short")) *len -= 1;
    if (has("wrong")) signature[*len / 2] ^= 1;
    if (has("stays_long")) *len = room;
    if (has("length_lie")) *len = room + 4096;
    return OK;
}

static ulong get_function_list(struct functions **list) {
    *list = &faulty;
    return OK;
}

__attribute__((visibility("default"))) ulong C_GetFunctionList(struct functions **list) {
    if (!faulty.call[0]) {
        const char *path = getenv("FAULTY_MODULE");
        void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        get_functions_call *get = module ? (get_functions_call *)dlsym(module, "C_GetFunctionList") : NULL;
        struct functions *found;
        if (!get || get(&found) != OK) return DEVICE_ERROR;
        real = faulty = *found;
        faulty.call[GET_FUNCTION_LIST] = get_function_list;
        faulty.call[GET_SLOT_LIST] = get_slot_list;
        faulty.call[GET_TOKEN_INFO] = get_token_info;
        faulty.call[GET_MECHANISM_LIST] = get_mechanism_list;
        faulty.call[OPEN_SESSION] = open_session;
        faulty.call[CLOSE_SESSION] = close_session;
        faulty.call[LOGIN] = login;
        faulty.call[GET_ATTRIBUTE_VALUE] = get_attribute_value;
        faulty.call[FIND_OBJECTS] = find_objects;
        faulty.call[SIGN_INIT] = sign_init;
        faulty.call[SIGN] = sign;
    }
    return get_function_list(list);
}
