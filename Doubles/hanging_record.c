/*
 * A store that hangs when it is to seal a record that has a text: a library to be preloaded into a program (ld.so(8)).
 *
 * HANGING_TEXT: the text. HANGING_NOTE: the file that is made when it hangs.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned char byte;
typedef unsigned long long size;
typedef int encrypt(
    byte *, size *, const byte *, size, const byte *, size, const byte *, const byte *, const byte *);

static void hang(void) {
  const char *note = getenv("HANGING_NOTE");
  if (note != NULL) close(creat(note, 0600));
  while (1) pause();
}

int crypto_aead_xchacha20poly1305_ietf_encrypt(
    byte *sealed, size *written, const byte *message, size count, const byte *additional, size additional_count,
    const byte *unused, const byte *nonce, const byte *key) {
  static encrypt *real;
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "crypto_aead_xchacha20poly1305_ietf_encrypt");
  const char *text = getenv("HANGING_TEXT");
  if (text != NULL && memmem(message, count, text, strlen(text)) != NULL) hang();
  return real(sealed, written, message, count, additional, additional_count, unused, nonce, key);
}
