// SPDX-License-Identifier: Apache-2.0

import Glibc

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The code of the program and its libraries, as the kernel has mapped it from their files.
enum ProgramCode {
  /// Takes all of it out of this process's memory. What runs next is mapped from the kernel's copy of the file, 64 KiB
  /// at a time; nothing is lost, because nobody can have written to it.
  ///
  /// - Returns: the bytes that are mapped, whether they were in memory or not.
  /// - Throws: why the mappings can't be read, or what madvise(2) refused with.
  static func unmap() throws -> Int {
    let segments = segments(in: try String(contentsOfFile: "/proc/self/maps", encoding: .utf8))
    for segment in segments {
      let start = UnsafeMutableRawPointer(bitPattern: segment.lowerBound)
      guard madvise(start, segment.count, MADV_DONTNEED) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
      }
    }
    return segments.reduce(0) { $0 + $1.count }
  }

  /// The addresses of what is executable, not writable, and of a file.
  ///
  /// - Parameter maps: lines of proc_pid_maps(5): `55f0a000-55f0c000 r-xp 00001000 fd:00 1234   /usr/bin/threadkeeper`.
  static func segments(in maps: String) -> [Range<UInt>] {
    maps.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
  }
}
