// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Files that a person names.
enum ReadableFile {
  static func isThere(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
