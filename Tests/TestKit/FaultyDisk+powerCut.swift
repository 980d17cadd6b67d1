// SPDX-License-Identifier: Apache-2.0

import CLibSQLite

extension FaultyDisk {
  private static let sector = 512

  /// Notes what a write is about to replace.
  func remember(_ file: SQLiteFile, offset: Int64, count: Int) {
    guard state.withLock({ $0.fault?.losesWrites == true }) else { return }
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
  ///
  /// - Parameter one: only of this file; nil: of all.
  func loseUnsynced(of one: SQLiteFile? = nil, seed: UInt64) -> Int32 {
    var random = SeededGenerator(seed: seed)
    let unsynced = state.withLock { state in
      guard let one else {
        defer { state.unsynced = [:] }
        return state.unsynced
      }
      let address = UInt(bitPattern: one)
      return [address: state.unsynced.removeValue(forKey: address) ?? []]
    }
    for (address, writes) in unsynced.sorted(by: { $0.key < $1.key }) {
      guard let file = SQLiteFile(bitPattern: address) else { continue }
      for write in writes.reversed() {
        for start in stride(from: 0, to: write.old.count, by: Self.sector)
        where Bool.random(using: &random) {
          let part = Array(write.old[start..<min(start + Self.sector, write.old.count)])
          var written = part
          _ = file.pointee.pMethods?.pointee.xRead?(
            file, &written, Int32(part.count), write.offset + Int64(start))
          if written != part { state.withLock { $0.lost += 1 } }
          _ = file.pointee.pMethods?.pointee.xWrite?(
            file, part, Int32(part.count), write.offset + Int64(start))
        }
      }
    }
    return SQLITE_IOERR
  }
}
