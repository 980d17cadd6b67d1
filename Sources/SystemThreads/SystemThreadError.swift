// SPDX-License-Identifier: Apache-2.0

/// A thread could not be started.
package struct SystemThreadError: Error, Equatable {
  /// The result of pthread_create(3): `EAGAIN` when the system or the user has no more threads.
  package let code: Int32
}
