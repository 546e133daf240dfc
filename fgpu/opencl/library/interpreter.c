/* Finds the Python interpreter of this process, or starts one, and has it fill the table of what it answers.

   No Python runs while a lock of this file is held, and who waits for one does not hold the GIL: so no two threads
   can wait for each other. An interpreter that was started here is never finalized: calls that come late, from
   static destructors, are answered as all others. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#define OLDEST "3.11"                           /* Python that fgpu is for, as in pyproject.toml */

static void *python[SLOTS];                     /* what Python answers each slot with */
static volatile size_t interrupted;             /* the thread whose call a signal ended, in a Python program */
static volatile size_t ending;                  /* that signal */
static volatile size_t unanswered;              /* the thread, if the signal came before the call had begun */
static void *const dispatch[SLOTS];             /* the ICD's table, which begins each handle */
static struct { void *const *dispatch; void *reserved; } platform = {dispatch, NULL};

/* -- the file beside this library ------------------------------------------------------------- */

static struct {
    char python[PATH_MAX];      /* the environment's interpreter, which finds its packages by its own place */
    char libpython[PATH_MAX];   /* ... as a shared library; empty where there is none */
    char version[16];           /* "3.11" */
    char packages[PATH_MAX];    /* the environment's site-packages */
} environment;

/* Once a process: hosts may ask again and again. */
static void say(const char *format, const char *first, const char *second)
{
    static int has_said;
    if (has_said)
        return;
    has_said = 1;
    char line[2 * PATH_MAX + 500] = "fgpu: no OpenCL platform in this process: ";
    size_t length = strlen(line);
    snprintf(line + length, sizeof line - length - 1, format, first, second);
    strcat(line, "\n");
    fputs(line, stderr);
}

static char settings[PATH_MAX];

/* Returns the number of the error, or 0. Python programs find their packages by themselves. */
static int read_environment(void)
{
    Dl_info self;
    if (!dladdr(&platform, &self))
        return ENOENT;
    snprintf(settings, sizeof settings, "%s.conf", self.dli_fname);
    FILE *file = fopen(settings, "re");
    if (!file)
        return errno;
    char line[PATH_MAX + 20];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        char *place = !strcmp(line, "python") ? environment.python
            : !strcmp(line, "libpython") ? environment.libpython
            : !strcmp(line, "packages") ? environment.packages
            : !strcmp(line, "version") && strlen(value) < sizeof environment.version ? environment.version : NULL;
        if (place && strlen(value) < PATH_MAX)
            strcpy(place, value);
    }
    fclose(file);
    return 0;
}

/* -- what is used of Python ------------------------------------------------------------------- */

static struct {
    int (*is_initialized)(void);
    int (*is_finalizing)(void);     /* NULL: there is no way to ask */
    int (*ensure)(void);
    void (*release)(int);
    void *(*new_dict)(void);
    int (*set_item)(void *, const char *, void *);
    void *(*decode)(const char *);
    void *(*from_size)(size_t);
    void *(*compile)(const char *, const char *, int);
    void *(*evaluate)(void *, void *, void *);
    void (*clear_error)(void);
    int (*interrupt)(int);
    void *(*save)(void);
    void *(*this_state)(void);
    int (*has_gil)(void);
    void *(*has_error)(void);
    void (*fetch_error)(void **, void **, void **);
    void (*restore_error)(void *, void *, void *);
    void (*before_fork)(void);
    void (*after_fork_parent)(void);
    void (*after_fork_child)(void);
} py;

static int find_functions(void *handle)
{
#define FIND(member, name) (*(void **)&py.member = dlsym(handle, name))
    if (!FIND(is_finalizing, "Py_IsFinalizing"))    /* since 3.13 */
        FIND(is_finalizing, "_Py_IsFinalizing");
    return FIND(is_initialized, "Py_IsInitialized") && FIND(ensure, "PyGILState_Ensure")
        && FIND(release, "PyGILState_Release") && FIND(new_dict, "PyDict_New")
        && FIND(set_item, "PyDict_SetItemString") && FIND(decode, "PyUnicode_DecodeFSDefault")
        && FIND(from_size, "PyLong_FromSize_t") && FIND(compile, "Py_CompileString")
        && FIND(evaluate, "PyEval_EvalCode") && FIND(clear_error, "PyErr_Clear")
        && FIND(interrupt, "PyErr_SetInterruptEx") && FIND(has_gil, "PyGILState_Check") && FIND(save, "PyEval_SaveThread")
        && FIND(this_state, "PyGILState_GetThisThreadState")
        && FIND(has_error, "PyErr_Occurred") && FIND(fetch_error, "PyErr_Fetch")
        && FIND(restore_error, "PyErr_Restore")
        && FIND(before_fork, "PyOS_BeforeFork") && FIND(after_fork_parent, "PyOS_AfterFork_Parent")
        && FIND(after_fork_child, "PyOS_AfterFork_Child");
#undef FIND
}

/* -- an interpreter of our own ---------------------------------------------------------------- */

static int is_ours;
static int fork_state;

/* A thread keeps its state of Python from call to call: that is faster, and a fork must not happen while a thread
   makes one, which the interpreter does under a lock of its own, but without the GIL. */
static pthread_mutex_t states = PTHREAD_MUTEX_INITIALIZER;
static __thread int has_state;

/* glibc's, since 2.18; keys of pthreads end too late, when Python's own have lost their values. */
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *) __attribute__((weak));
extern void *__dso_handle;

static void end_state(void *unused)
{
    (void)unused;
    has_state = 0;
    py.ensure();
    py.release(0 /* PyGILState_LOCKED */);
    py.release(1 /* PyGILState_UNLOCKED: as it was when the state was made */);
}

static void make_state(void)
{
    has_state = 1;
    if (py.this_state())    /* a thread of Python's, which calls the host back, has one that Python ends */
        return;
    pthread_mutex_lock(&states);
    py.ensure();
    pthread_mutex_unlock(&states);
    py.save();
    __cxa_thread_atexit_impl(end_state, NULL, &__dso_handle);
}

static void before_fork(void)
{
    pthread_mutex_lock(&states);
    fork_state = py.ensure();
    py.before_fork();
}

static void after_fork_parent(void)
{
    py.after_fork_parent();
    py.release(fork_state);
    pthread_mutex_unlock(&states);
}

static void after_fork_child(void)
{
    py.after_fork_child();
    py.release(fork_state);
    pthread_mutex_unlock(&states);
}

static int initialize(void *handle)
{
    void (*set_name)(const wchar_t *) = (void (*)(const wchar_t *))dlsym(handle, "Py_SetProgramName");
    wchar_t *(*decode)(const char *, size_t *) = (wchar_t *(*)(const char *, size_t *))dlsym(handle, "Py_DecodeLocale");
    void (*start)(int) = (void (*)(int))dlsym(handle, "Py_InitializeEx");
    int *ignores = (int *)dlsym(handle, "Py_IgnoreEnvironmentFlag");
    int *utf8 = (int *)dlsym(handle, "Py_UTF8Mode");
    if (!start || !decode)
        return 0;
    if (set_name) {
        if (ignores)
            *ignores = 1;       /* PYTHONHOME and PYTHONPATH of the user are for other Pythons */
        if (utf8)
            *utf8 = 1;          /* whatever the locale */
        set_name(decode(environment.python, NULL));     /* it keeps the pointer */
        start(0);
    } else {                    /* PEP 741 */
        void *(*create)(void) = (void *(*)(void))dlsym(handle, "PyInitConfig_Create");
        int (*set)(void *, const char *, const char *) =
            (int (*)(void *, const char *, const char *))dlsym(handle, "PyInitConfig_SetStr");
        int (*run)(void *) = (int (*)(void *))dlsym(handle, "Py_InitializeFromInitConfig");
        void *config = create && set && run ? create() : NULL;
        if (!config || set(config, "program_name", environment.python) || run(config))
            return 0;
    }
    if (!py.is_initialized())
        return 0;
    py.save();
    has_state = 1;      /* it is the interpreter's first, and stays with it */
    return 1;
}

/* -- which of both ------------------------------------------------------------------------------ */

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction interrupt;      /* the host's: Python's module signal puts its own in the place */
static int is_impossible;

static int is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return !stat(one, &first) && !stat(other, &second) && first.st_dev == second.st_dev
        && first.st_ino == second.st_ino;
}

static int find_other(struct dl_phdr_info *library, size_t size, void *found)
{
    const char *name = strrchr(library->dlpi_name, '/');
    (void)size;
    if (!name || strncmp(name, "/libpython", 10) || !strchr(name, '.') || strstr(name, "libpython3.so")
        || is_same_file(library->dlpi_name, environment.libpython))
        return 0;
    *(const char **)found = library->dlpi_name;
    return 1;
}

/* Whether the process has a Python to answer (1), or may be given one (2); if not, says why. Two Pythons in a process
   take each other's functions. */
static int look_for_python(void)
{
    int error = read_environment();
    int (*is_initialized)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    if (is_initialized && is_initialized()) {
        char version[16] = "";
        int major = 0, minor = 0;
        const char *(*get_version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
        if (get_version && sscanf(get_version(), "%d.%d", &major, &minor) == 2 && major == 3 && minor >= atoi(OLDEST + 2)
            && find_functions(RTLD_DEFAULT))
            return 1;
        snprintf(version, sizeof version, "%d.%d", major, minor);
        say("it has Python %s, and fgpu needs %s or a later one", version, OLDEST);
        return 0;
    }
    if (error) {
        say("%s: %s; `fgpu opencl install` writes it", settings, strerror(error));
        return 0;
    }
    if (!environment.libpython[0]) {
        say("%s has no shared library; use a Python that is built with --enable-shared, or install its package "
            "(libpython%s), and `fgpu opencl install` again", environment.python, environment.version);
        return 0;
    }
    if (access(environment.libpython, R_OK)) {
        say("%s: %s; `fgpu opencl install` looks for it again", environment.libpython, strerror(errno));
        return 0;
    }
    const char *other = NULL;
    dl_iterate_phdr(find_other, &other);
    if (other) {
        say("it has loaded another Python, %s, and this is fgpu of %s; install fgpu for that one", other,
            environment.python);
        return 0;
    }
    return 2;
}

static int open_python(void)
{
    void *handle = dlopen(environment.libpython, RTLD_NOW | RTLD_GLOBAL);
    if (!handle || !find_functions(handle)) {
        say("%s%s; `fgpu opencl install` looks for it again", handle ? environment.libpython : dlerror(),
            handle ? " is no libpython" : "");
        return 0;
    }
    if (py.is_initialized())        /* by a host that keeps its symbols for itself */
        return 1;
    char *locale = setlocale(LC_CTYPE, NULL);
    locale = locale ? strdup(locale) : NULL;
    is_ours = initialize(handle);
    if (locale) {
        setlocale(LC_CTYPE, locale);
        free(locale);
    }
    if (is_ours)
        pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    else
        say("%s does not start%s", environment.libpython, "");
    return is_ours;
}

/* Python is in the process when this returns 1; the GIL is not held. */
static int find_python(void)
{
    static atomic_int is_found;
    if (is_found)
        return 1;
    pthread_mutex_lock(&starting);
    if (!is_found && !is_impossible) {
        int way = look_for_python();
        if (way == 2) {
            sigaction(SIGINT, NULL, &interrupt);
            is_impossible = !open_python();
        }
        is_found = way && !is_impossible;
    }
    pthread_mutex_unlock(&starting);
    return is_found;
}

/* -- the API's functions in it ---------------------------------------------------------------- */

static const char bootstrap[];
static atomic_int is_attached;
static atomic_int has_failed;

static int attach(void)
{
    if (has_failed || !find_python() || !py.is_initialized() || (py.is_finalizing && py.is_finalizing()))
        return 0;
    if (is_ours && !has_state && __cxa_thread_atexit_impl)
        make_state();
    int state = py.ensure();
    int is_interrupted = 0;
    if (!is_attached) {         /* two threads may do this at once, as Python passes the GIL on: it has locks for it */
        void *globals = py.new_dict();
        py.set_item(globals, "DISPATCH", py.from_size((size_t)dispatch));
        py.set_item(globals, "PLATFORM", py.from_size((size_t)&platform));
        py.set_item(globals, "TABLE", py.from_size((size_t)python));
        py.set_item(globals, "INTERRUPTED", py.from_size((size_t)&interrupted));
        py.set_item(globals, "ENDING", py.from_size((size_t)&ending));
        py.set_item(globals, "UNANSWERED", py.from_size((size_t)&unanswered));
        py.set_item(globals, "PACKAGES", py.decode(environment.packages));
        py.set_item(globals, "VERSION", py.decode(environment.version));
        void *code = py.compile(bootstrap, "<fgpu-opencl>", 257 /* Py_file_input */);
        void *result = code ? py.evaluate(code, globals, globals) : NULL;
        if (is_ours)
            sigaction(SIGINT, &interrupt, NULL);
        is_attached = python[READY] != NULL;
        is_interrupted = code && !result;   /* by Ctrl-C: the next call may try again */
        if (!result)
            py.clear_error();
        has_failed = !is_attached && !is_interrupted;   /* the code has said why */
    }
    py.release(state);
    if (is_interrupted && is_ours)
        raise(SIGINT);
    else if (is_interrupted)
        py.interrupt(SIGINT);
    return is_attached;
}

struct caller { void *type, *value, *traceback; fenv_t floats; };

/* After a call: a signal that ended it comes again, for the program itself. Whether the call returned anything. */
static inline int leave(struct caller *caller)
{
    fesetenv(&caller->floats);
    if (__builtin_expect(caller->type != NULL, 0))
        py.restore_error(caller->type, caller->value, caller->traceback);
    if (__builtin_expect(interrupted != 0, 0) && interrupted == (size_t)pthread_self()) {
        int is_answered = unanswered != interrupted;
        interrupted = unanswered = 0;
        py.interrupt((int)ending);
        return is_answered;
    }
    return 1;
}

/* Whether there is a Python to answer. Not any more when the host's interpreter ends. A Python program may be raising an
   error, and release an object of ours on the way. */
static inline int is_there(struct caller *caller)
{
    if (!is_attached && !attach())
        return 0;
    if (is_ours) {
        if (!has_state && __cxa_thread_atexit_impl)
            make_state();
    } else {
        if (!py.is_initialized() || (py.is_finalizing && py.is_finalizing()))
            return 0;
        if (py.has_gil() && py.has_error())
            py.fetch_error(&caller->type, &caller->value, &caller->traceback);
    }
    return 1;
}

/* Before a call of what is in a slot of the table: whether it may be called. How the host's floating-point numbers round,
   and whether they lose what is denormal (gcc -ffast-math), is not how Python and the devices compute. */
static inline int enter(struct caller *caller, int slot)
{
    caller->type = NULL;
    fegetenv(&caller->floats);
    fesetenv(FE_DFL_ENV);
    if (is_there(caller) && python[slot])
        return 1;
    leave(caller);
    return 0;
}
