/* Preloaded into a server: records which parts of its files have reached the disk, and simulates a full disk
  * on request. tests/faults/disk.py reads the record and removes what a power cut would lose.
 *
 * SHIM_FOLDER  the folder whose content is recorded
 * SHIM_RECORD  the record: lines of words separated by tabs:
 *                made PATH INODE           a new name in its folder (inode 0: a folder)
 *                renamed FROM TO KEPT      KEPT: another name of what TO was before, or -
 *                unlinked PATH KEPT
 *                synced INODE LENGTH       this many bytes of the file are on the disk
 *                shortened INODE LENGTH
 *                synced-folder PATH        the names in it are on the disk
 * SHIM_KEPT    a folder for those other names, on the same disk
 * SHIM_ROOM    a file of 8 bytes: how many more bytes may be written to files there; negative: no limit
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))

static const char *folder, *record_path, *backup_folder;
static _Atomic int64_t *room;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

/* A copy: a server writes its title over its environment. */
static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

__attribute__((constructor)) static void begin(void) {
    folder = setting("SHIM_FOLDER");
    record_path = setting("SHIM_RECORD");
    backup_folder = setting("SHIM_KEPT");
    const char *path = getenv("SHIM_ROOM");
    int fd = path ? REAL(open64)(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapping = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    room = mapping == MAP_FAILED ? NULL : mapping;
    if (fd >= 0) close(fd);
}

/* One write of less than a page to a file that is only appended to: whole lines, even if other processes write. */
__attribute__((format(printf, 1, 2))) static void record(const char *format, ...) {
    char line[3 * PATH_MAX];
    va_list words;
    va_start(words, format);
    int length = vsnprintf(line, sizeof line, format, words), before = errno;
    va_end(words);
    int fd = REAL(open64)(record_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || REAL(write)(fd, line, length) != length) abort();
    close(fd);
    errno = before;
}

/* The full path of a name if it is in the folder; else NULL. */
static const char *ours(const char *path, char *whole) {
    char here[PATH_MAX] = "";
    if (!folder || !record_path) return NULL;
    if (*path != '/' && !getcwd(here, sizeof here)) return NULL;
    if (snprintf(whole, PATH_MAX, *path == '/' ? "%s%s" : "%s/%s", here, path) >= PATH_MAX) return NULL;
    size_t length = strlen(folder);
    return strncmp(whole, folder, length) == 0 && whole[length] == '/' ? whole : NULL;
}

/* The path of an open file if it is the folder or in it; else NULL. */
static const char *path_of(int fd, char *path) {
    char link[64], whole[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = folder ? readlink(link, path, PATH_MAX - 1) : -1;
    if (size < 0) return NULL;
    path[size] = 0;
    return strcmp(path, folder) == 0 || ours(path, whole) ? path : NULL;
}

static void record_length(int fd, const char *what, int64_t length) {
    struct stat64 status;
    char path[PATH_MAX];
    if (!path_of(fd, path) || fstat64(fd, &status)) return;
    if (S_ISDIR(status.st_mode)) record("synced-folder\t%s\n", path);
    if (S_ISREG(status.st_mode)) record("%s\t%lu\t%ld\n", what, (unsigned long)status.st_ino, (long)length);
}

static int64_t length_of(int fd) {
    struct stat64 status;
    return fstat64(fd, &status) ? 0 : status.st_size;
}

static int synced(int fd, int (*sync)(int)) {
    int64_t length = length_of(fd); /* data written during the sync may not be included */
    int result = sync(fd);
    if (result == 0) record_length(fd, "synced", length);
    return result;
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

int ftruncate64(int fd, off64_t length) {
    int result = REAL(ftruncate64)(fd, length);
    if (result == 0) record_length(fd, "shortened", length);
    return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int truncate64(const char *path, off64_t length) {
    int fd = REAL(open64)(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = ftruncate64(fd, length);
    close(fd);
    return result;
}

/* Whether the name that a call is about to create is new in the folder. */
static const char *about_to_make(const char *path, char *whole) {
    return ours(path, whole) && access(path, F_OK) ? whole : NULL;
}

static void record_new_name(const char *whole) {
    struct stat64 status;
    if (whole && stat64(whole, &status) == 0)
        record("made\t%s\t%lu\n", whole, S_ISDIR(status.st_mode) ? 0UL : (unsigned long)status.st_ino);
}

int open64(const char *path, int flags, ...) {
    char whole[PATH_MAX];
    va_list words;
    va_start(words, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(words, mode_t) : 0;
    va_end(words);
    const char *new = flags & O_CREAT ? about_to_make(path, whole) : NULL;
    int fd = REAL(open64)(path, flags, mode);
    if (fd >= 0) record_new_name(new);
    if (fd >= 0 && !new && flags & O_TRUNC) record_length(fd, "shortened", 0);
    return fd;
}

FILE *fopen64(const char *path, const char *mode) {
    char whole[PATH_MAX];
    const char *new = *mode == 'r' ? NULL : about_to_make(path, whole);
    FILE *file = REAL(fopen64)(path, mode);
    if (file) record_new_name(new);
    if (file && !new && *mode == 'w') record_length(fileno(file), "shortened", 0);
    return file;
}
FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }

int mkdir(const char *path, mode_t mode) {
    char whole[PATH_MAX];
    const char *new = about_to_make(path, whole);
    int result = REAL(mkdir)(path, mode);
    if (result == 0) record_new_name(new);
    return result;
}

/* A second name for a file that is about to lose this one, so that the name can be restored. */
static const char *link_backup(const char *whole, char *backup) {
    static _Atomic unsigned number;
    snprintf(backup, PATH_MAX, "%s/%d.%u", backup_folder, (int)getpid(), number++);
    return link(whole, backup) == 0 ? backup : "-";
}

int rename(const char *from, const char *to) {
    char whole_from[PATH_MAX], whole_to[PATH_MAX], backup[PATH_MAX];
    if (!ours(from, whole_from) || !ours(to, whole_to)) return REAL(rename)(from, to);
    const char *backup_name = link_backup(whole_to, backup);
    int result = REAL(rename)(from, to);
    if (result == 0) record("renamed\t%s\t%s\t%s\n", whole_from, whole_to, backup_name);
    return result;
}

int unlink(const char *path) {
    char whole[PATH_MAX], backup[PATH_MAX];
    if (!ours(path, whole)) return REAL(unlink)(path);
    const char *backup_name = link_backup(whole, backup);
    int result = REAL(unlink)(path);
    if (result == 0) record("unlinked\t%s\t%s\n", whole, backup_name);
    return result;
}

/* How many of `size` bytes there is room for; -1: none. */
static int64_t room_for(int fd, int64_t size) {
    struct stat64 status;
    char path[PATH_MAX];
    if (!room || *room < 0 || size <= 0 || fstat64(fd, &status) || !S_ISREG(status.st_mode)) return size;
    if (!path_of(fd, path)) return size;
    int64_t remaining = *room;
    if (remaining == 0) return errno = ENOSPC, -1;
    if (remaining < size) size = remaining;
    *room = remaining - size;
    return size;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    static ssize_t (*real_write)(int, const void *, size_t); /* looked up once: all replies use this function */
    if (!real_write) real_write = REAL(write);
    int64_t most = room_for(fd, (int64_t)size);
    return most < 0 ? -1 : real_write(fd, bytes, (size_t)most);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    int64_t size = 0;
    for (int i = 0; i < count; i++) size += (int64_t)parts[i].iov_len;
    if (room_for(fd, size) == size) return REAL(writev)(fd, parts, count);
    return errno = ENOSPC, -1;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    int64_t all = (int64_t)(size * count);
    if (room_for(fileno(file), all) == all) return REAL(fwrite)(bytes, size, count, file);
    return errno = ENOSPC, 0;
}
