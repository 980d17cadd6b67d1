/// Nothing to call: a program that is linked with this zeroes memory that it gives back (`free.c`).
