/* tls.h: variables of threads that are read all the time. */
#ifndef TT_BASE_TLS_H
#define TT_BASE_TLS_H

/*
 * At a fixed distance from the thread's own place: without the call that finds those of a shared library.
 * There is room for some hundred bytes of them in a process that loads the library late.
 */
#define TT_TLS_NEAR __attribute__((tls_model("initial-exec")))

#endif
