/* What is answered without Python: who only looks for a platform starts no interpreter.

   A program that is linked to a loader has the loader's functions of these names: the library is linked with
   -Bsymbolic, so that it means its own. */

#define EXPORTED __attribute__((visibility("default")))

static int find_first(struct dl_phdr_info *library, size_t size, void *first)
{
    const char *name = strrchr(library->dlpi_name, '/');
    (void)size;
    if (!name || strcmp(name + 1, LIBRARY))
        return 0;
    *(uintptr_t *)first = library->dlpi_addr;
    return 1;
}

/* Whether this is the first copy in the process, as loaders look in several places. */
static int is_first(void)
{
    Dl_info self;
    uintptr_t first = 0;
    dl_iterate_phdr(find_first, &first);
    return !first || !dladdr(&platform, &self) || first == (uintptr_t)self.dli_fbase;
}

/* Whether there may be a Python to answer, as far as can be told without starting one or importing anything. */
static int may_answer(void)
{
    if (is_attached)
        return 1;
    pthread_mutex_lock(&starting);
    int way = is_impossible || has_failed ? 0 : look_for_python();
    pthread_mutex_unlock(&starting);
    const char *(*get_version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    size_t length = strlen(environment.version);
    if (way == 1 && length && get_version
        && (strncmp(get_version(), environment.version, length) || get_version()[length] != '.'))
        return attach();    /* of another version than the environment's, so that fgpu must be there, too */
    return way != 0;
}

EXPORTED int32_t clIcdGetPlatformIDsKHR(uint32_t room, void **platforms, uint32_t *count)
{
    if ((!platforms && !count) || (platforms && !room))
        return -30;     /* CL_INVALID_VALUE */
    if (!is_first() || !may_answer()) {
        if (count)
            *count = 0;
        return -1001;   /* CL_PLATFORM_NOT_FOUND_KHR */
    }
    if (platforms)
        platforms[0] = &platform;
    if (count)
        *count = 1;
    return 0;
}

EXPORTED int32_t clGetPlatformIDs(uint32_t room, void **platforms, uint32_t *count)
{
    return clIcdGetPlatformIDsKHR(room, platforms, count);
}

EXPORTED int32_t clGetPlatformInfo(void *handle, uint32_t name, size_t room, void *value, size_t *length_ret)
{
    if (handle && handle != &platform)
        return -32;     /* CL_INVALID_PLATFORM */
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (answers[i].name != name)
            continue;
        size_t length = strlen(answers[i].text) + 1;
        if (value && room < length)
            return -30;
        if (value)
            memcpy(value, answers[i].text, length);
        if (length_ret)
            *length_ret = length;
        return 0;
    }
    return -30;
}

static void *clCreateCommandQueueWithProperties(void *, void *, void *, int32_t *);

EXPORTED void *clGetExtensionFunctionAddress(const char *name)
{
    if (name && !strcmp(name, "clIcdGetPlatformIDsKHR"))
        return (void *)clIcdGetPlatformIDsKHR;
    if (name && !strcmp(name, "clGetPlatformInfo"))     /* older loaders ask for it so */
        return (void *)clGetPlatformInfo;
    if (name && !strcmp(name, "clCreateCommandQueueWithPropertiesKHR"))
        return (void *)clCreateCommandQueueWithProperties;
    return NULL;
}

static void *clGetExtensionFunctionAddressForPlatform(void *handle, const char *name)
{
    return handle == &platform ? clGetExtensionFunctionAddress(name) : NULL;
}
