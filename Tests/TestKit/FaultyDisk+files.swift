import CLibSQLite

typealias SQLiteFile = UnsafeMutablePointer<sqlite3_file>

/// What stands before the real file in the memory that SQLite gives to xOpen.
private struct Head {
  var base: sqlite3_file
  var disk: Unmanaged<FaultyDisk>
}

private let headLength = (MemoryLayout<Head>.stride + 15) / 16 * 16

private func real(_ file: SQLiteFile?) -> SQLiteFile? {
  file.map { (UnsafeMutableRawPointer($0) + headLength).assumingMemoryBound(to: sqlite3_file.self) }
}

private func disk(_ file: SQLiteFile?) -> FaultyDisk? {
  file.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Head.self).pointee.disk.takeUnretainedValue() }
}

private func methods(_ file: SQLiteFile?) -> sqlite3_io_methods? { real(file)?.pointee.pMethods?.pointee }

extension FaultyDisk {
  /// The methods of every file; made once, and never gone.
  // Written before anyone can see it, and never changed.
  nonisolated(unsafe) private static let fileMethods: UnsafePointer<sqlite3_io_methods> = {
    let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    table.initialize(to: makeFileMethods())
    return UnsafePointer(table)
  }()

  func register() {
    guard let original = sqlite3_vfs_find(nil) else { return }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: original.pointee)
    vfs.pointee.pNext = nil
    vfs.pointee.szOsFile = original.pointee.szOsFile + Int32(headLength)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: name.utf8.count + 1)
    for (position, character) in name.utf8CString.enumerated() { copy[position] = character }
    vfs.pointee.zName = UnsafePointer(copy)
    vfs.pointee.pAppData = Unmanaged.passRetained(self).toOpaque()
    vfs.pointee.xOpen = { vfs, path, file, flags, outFlags in
      guard let original = sqlite3_vfs_find(nil), let file, let data = vfs?.pointee.pAppData else {
        return SQLITE_CANTOPEN
      }
      let result = original.pointee.xOpen?(original, path, real(file), flags, outFlags)
      let head = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self)
      head.pointee.disk = Unmanaged.fromOpaque(data)
      head.pointee.base.pMethods = real(file)?.pointee.pMethods == nil ? nil : FaultyDisk.fileMethods
      return result ?? SQLITE_CANTOPEN
    }
    vfs.pointee.xDelete = { vfs, path, sync in
      guard let original = sqlite3_vfs_find(nil), let data = vfs?.pointee.pAppData else { return SQLITE_IOERR }
      let disk = Unmanaged<FaultyDisk>.fromOpaque(data).takeUnretainedValue()
      guard !disk.state.withLock({ $0.isCut }) else { return SQLITE_IOERR }
      return original.pointee.xDelete?(original, path, sync) ?? SQLITE_IOERR
    }
    sqlite3_vfs_register(vfs, 0)
  }

  private static func makeFileMethods() -> sqlite3_io_methods {
    var table = sqlite3_io_methods()
    // Version 2: shared memory for the write-ahead log, no memory mapping.
    table.iVersion = 2
    table.xClose = { file in
      if let target = real(file) { disk(file)?.forget(target) }
      return methods(file)?.xClose?(real(file)) ?? SQLITE_OK
    }
    table.xRead = { file, buffer, count, offset in
      if case .fails(let code) = disk(file)?.verdict(.read) { return code }
      return methods(file)?.xRead?(real(file), buffer, count, offset) ?? SQLITE_IOERR
    }
    table.xWrite = { file, buffer, count, offset in
      guard let disk = disk(file), let target = real(file) else { return SQLITE_IOERR }
      let verdict = disk.verdict(.write)
      if case .fails(let code) = verdict { return code }
      disk.remember(target, offset: offset, count: Int(count))
      func write(_ count: Int32) -> Int32 { methods(file)?.xWrite?(target, buffer, count, offset) ?? SQLITE_IOERR }
      switch verdict {
      case .cut(let seed):
        _ = write(count)
        return disk.loseUnsynced(seed: seed)
      case .isShort(let code):
        _ = write(count / 2)
        return code
      case .works, .fails, .loses, .lies: return write(count)
      }
    }
    table.xTruncate = { file, size in
      guard let disk = disk(file) else { return SQLITE_IOERR }
      switch disk.verdict(.truncate) {
      case .fails(let code): return code
      case .cut(let seed): return disk.loseUnsynced(seed: seed)
      case .works, .isShort, .loses, .lies: break
      }
      return methods(file)?.xTruncate?(real(file), size) ?? SQLITE_IOERR
    }
    table.xSync = { file, flags in
      guard let disk = disk(file), let target = real(file) else { return SQLITE_IOERR }
      switch disk.verdict(.sync) {
      case .fails(let code): return code
      case .cut(let seed): return disk.loseUnsynced(seed: seed)
      case .loses(let code, let seed):
        _ = disk.loseUnsynced(of: target, seed: seed)
        return code
      case .lies: return SQLITE_OK
      case .works, .isShort: break
      }
      disk.forget(target)
      return methods(file)?.xSync?(target, flags) ?? SQLITE_IOERR
    }
    table.xFileSize = { methods($0)?.xFileSize?(real($0), $1) ?? SQLITE_IOERR }
    table.xLock = { methods($0)?.xLock?(real($0), $1) ?? SQLITE_IOERR }
    table.xUnlock = { methods($0)?.xUnlock?(real($0), $1) ?? SQLITE_IOERR }
    table.xCheckReservedLock = { methods($0)?.xCheckReservedLock?(real($0), $1) ?? SQLITE_IOERR }
    table.xFileControl = { methods($0)?.xFileControl?(real($0), $1, $2) ?? SQLITE_NOTFOUND }
    table.xSectorSize = { methods($0)?.xSectorSize?(real($0)) ?? 512 }
    table.xDeviceCharacteristics = { methods($0)?.xDeviceCharacteristics?(real($0)) ?? 0 }
    table.xShmMap = { methods($0)?.xShmMap?(real($0), $1, $2, $3, $4) ?? SQLITE_IOERR }
    table.xShmLock = { methods($0)?.xShmLock?(real($0), $1, $2, $3) ?? SQLITE_IOERR }
    table.xShmBarrier = { methods($0)?.xShmBarrier?(real($0)) }
    table.xShmUnmap = { methods($0)?.xShmUnmap?(real($0), $1) ?? SQLITE_OK }
    return table
  }
}

extension FaultyDisk {
  private static let sector = 512

  /// Notes what a write is about to replace.
  func remember(_ file: SQLiteFile, offset: Int64, count: Int) {
    guard state.withLock({ $0.fault?.losesWrites == true }) else { return }
    // What lies beyond the end reads as zeros.
    var old = [UInt8](repeating: 0, count: count)
    _ = file.pointee.pMethods?.pointee.xRead?(file, &old, Int32(count), offset)
    state.withLock { $0.unsynced[UInt(bitPattern: file), default: []].append(Overwritten(offset: offset, old: old)) }
  }

  /// What is synced stays.
  func forget(_ file: SQLiteFile) { state.withLock { $0.unsynced[UInt(bitPattern: file)] = nil } }

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
        for start in stride(from: 0, to: write.old.count, by: Self.sector) where Bool.random(using: &random) {
          let part = Array(write.old[start..<min(start + Self.sector, write.old.count)])
          var written = part
          _ = file.pointee.pMethods?.pointee.xRead?(file, &written, Int32(part.count), write.offset + Int64(start))
          if written != part { state.withLock { $0.lost += 1 } }
          _ = file.pointee.pMethods?.pointee.xWrite?(file, part, Int32(part.count), write.offset + Int64(start))
        }
      }
    }
    return SQLITE_IOERR
  }
}
