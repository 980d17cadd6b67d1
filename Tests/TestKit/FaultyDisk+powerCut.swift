// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

extension FaultyDisk {
  private static let sector = 512

  /// Notes what a write is about to replace.
  func remember(_ file: SQLiteFile, offset: Int64, count: Int) {
    guard state.withLock({ if case .powerCut = $0.fault { true } else { false } }) else { return }
    // What lies beyond the end reads as zeros.
    var old = [UInt8](repeating: 0, count: count)
    _ = file.pointee.pMethods?.pointee.xRead?(file, &old, Int32(count), offset)
    state.withLock {
      $0.unsynced[UInt(bitPattern: file), default: []].append(
        Overwritten(offset: offset, old: old))
    }
  }

  /// What is synced stays.
  func forget(_ file: SQLiteFile) {
    state.withLock { $0.unsynced[UInt(bitPattern: file)] = nil }
  }

  /// Puts back any sectors that were not synced, newest write first.
  func loseUnsynced(seed: UInt64) -> Int32 {
    var random = SeededGenerator(seed: seed)
    let unsynced = state.withLock { state in
      defer { state.unsynced = [:] }
      return state.unsynced
    }
    for (address, writes) in unsynced.sorted(by: { $0.key < $1.key }) {
      guard let file = SQLiteFile(bitPattern: address) else { continue }
      for write in writes.reversed() {
        for start in stride(from: 0, to: write.old.count, by: Self.sector)
        where Bool.random(using: &random) {
          let part = Array(write.old[start..<min(start + Self.sector, write.old.count)])
          _ = file.pointee.pMethods?.pointee.xWrite?(
            file, part, Int32(part.count), write.offset + Int64(start))
        }
      }
    }
    return SQLITE_IOERR
  }
}
