// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What a child process would have open by accident.
enum InheritedDescriptors {
  /// Descriptors that other threads may open between the look and the child's start. New ones get the lowest free
  /// numbers.
  private static let spare: Int32 = 256

  /// Has the child close all but its three streams. To be called after all that is to be duplicated has been: a number
  /// that is not open is no error to glibc.
  static func close(in actions: inout posix_spawn_file_actions_t) {
    let highest = DirectoryNames.list("/proc/self/fd").compactMap(Int32.init).max() ?? 1024
    for descriptor in 3...highest + spare {
      posix_spawn_file_actions_addclose(&actions, descriptor)
    }
  }
}
