import Bridge
import Glibc
import Home
import KeychainCore
import ServiceDiscovery
import Settings

/// The files of the store: who can read them, what opens them, and whether there is room.
enum StoreCheck {
  private static let check = Check(.store, "store")

  /// - Parameters:
  ///   - failure: why it cannot be opened here; nil where it can.
  ///   - isDefect: see `isDefect`.
  ///   - condition: as a daemon reports it, or as it was found; nil where nobody knows.
  static func findings(failure: CommandFailure?, isDefect: Bool, condition: String?, path: String) -> [Finding] {
    if let failure, isDefect {
      let open = ". The running daemon has the store open; it will not start again"
      return [
        check.problem(
          CommandFailure(
            failure.status == .notPermitted ? .notPermitted : .inputOutput,
            failure.message + (condition == nil ? "" : open),
            remedy: failure.remedy ?? "put the key or the store back: see docs/guides/backup.md"))
      ]
    }
    if let condition, condition != "healthy" {
      return [
        check.problem(
          "The store in \(path) is \(condition)",
          condition.hasPrefix(DaemonStatus.notWritable)
            ? "`threadkeeper alerts` says since when. Nothing is lost: events wait on the broker"
            : "`threadkeeper store verify` says more", .inputOutput)
      ]
    }
    if condition != nil { return [check.ok("The store in \(path) is healthy")] }
    return failure.map { [check.notChecked($0)] } ?? []
  }

  /// Whether a store that its owner cannot open here opens nowhere: passphrases are not asked for, and systemd hands
  /// credentials to the service alone.
  ///
  /// - Parameters:
  ///   - slots: nil where they cannot be read.
  ///   - hasPassphrase: whether the settings name one.
  static func isDefect(_ failure: CommandFailure, slots: [KeySlot.Kind]?, hasPassphrase: Bool) -> Bool {
    guard failure.status != .temporary else { return false }
    guard failure.status == .notPermitted, !hasPassphrase, let slots else { return true }
    return slots.contains(.keyFile) && !slots.contains(.passphrase) && !slots.contains(.systemdCredential)
  }

  /// Of a store that is not there, or that this user may not see.
  static func absence(_ settings: Settings) -> Finding {
    if let failure = Doctor.refusal(settings, OpenStore.checkAccess) { return check.notChecked(failure) }
    if let failure = Doctor.refusal(settings, OpenStore.checkNotLost) {
      // It was there, by what is left of it.
      return failure.status == .noInput
        ? check.problem(failure, otherwise: "", .inputOutput) : check.notChecked(failure)
    }
    return check.warning("There is no store in \(settings.store.path) yet", "The daemon makes it when it starts")
  }

  // MARK: Permissions

  /// Nobody but the owner may look into these.
  static func permissions(_ settings: Settings) -> [Finding] {
    let location = OpenStore.location(settings)
    let paths = [
      (location.directory, "700"), (location.databasePath, "600"), (location.anchorDirectory, "700"),
      (settings.store.keyFile, "400"), (location.deviceKeyPath, "600"),
    ]
    var files: [(String, UInt32, String)] = []
    var unseen: [String] = []
    for (path, mode) in paths {
      var status = stat()
      if lstat(path, &status) == 0 {
        files.append((path, status.st_mode & 0o777, mode))
      } else if errno != ENOENT {
        unseen.append(path)
      }
    }
    return permissions(files, unseen: unseen)
  }

  /// - Parameters:
  ///   - files: path, mode and the mode that is right.
  ///   - unseen: what may be there, and cannot be looked at.
  static func permissions(_ files: [(String, UInt32, String)], unseen: [String] = []) -> [Finding] {
    let check = Check(.store, "permissions")
    guard !files.isEmpty else { return [check.notChecked("No file of the store can be seen here")] }
    let open = files.filter { $0.1 & 0o077 != 0 }
    let found =
      open.map { path, mode, right in
        check.problem(
          "\(path) is open to other users (mode \(String(mode, radix: 8)))", "Run `chmod \(right) \(path)`",
          .notPermitted)
      } + unseen.map { check.notChecked("Whether others can open \($0): it cannot be seen here") }
    return found.isEmpty ? [check.ok("Only their owner can open the store, its key and its anchor")] : found
  }

  // MARK: Key slots

  static func keySlots(_ kinds: [KeySlot.Kind]?) -> [Finding] {
    let check = Check(.store, "key_slots")
    guard let kinds else {
      return [check.notChecked("The key slots cannot be read here", "Run this as the daemon's user")]
    }
    let recovery = kinds.filter { $0 == .passphrase || $0 == .recoveryCode }
    guard recovery.isEmpty else {
      return [check.ok("\(kinds.count) key slots, \(recovery.count) of them for a person")]
    }
    return [
      check.note(
        "Only files open the store: who loses them loses the store and its backups",
        "Add a recovery code, and write it down: `threadkeeper keys add --recovery-code`")
    ]
  }

  // MARK: Backups

  private static let oldAfter = Int64(30 * 86_400)

  /// - Parameters:
  ///   - last: seconds since 1970 of the last backup; nil where none is noted.
  ///   - now: the same.
  static func backup(last: Int64?, now: Int64) -> [Finding] {
    let check = Check(.store, "backup")
    let remedy = "Run `threadkeeper store backup FILE`, with a file on another disk"
    guard let last else { return [check.warning("No backup of this store is noted", remedy)] }
    let days = max(0, now - last) / 86_400
    let ago = days == 0 ? "less than a day" : days == 1 ? "a day" : "\(days) days"
    guard now - last > oldAfter else { return [check.ok("The last backup was made \(ago) ago")] }
    return [check.warning("The last backup was made \(ago) ago", remedy)]
  }

  // MARK: Disk

  static func disk(_ path: String) -> [Finding] {
    var (disk, place) = (statvfs(), path)
    while statvfs(place.isEmpty ? "/" : place, &disk) != 0 {
      guard let slash = place.lastIndex(of: "/") else { return [] }
      place = String(place[..<slash])
    }
    return Self.disk(
      path, freeMiB: (UInt64(disk.f_bavail) * UInt64(disk.f_frsize)) >> 20,
      isReadOnly: disk.f_flag & UInt(ST_RDONLY) != 0)
  }

  static func disk(_ path: String, freeMiB: UInt64, isReadOnly: Bool) -> [Finding] {
    let check = Check(.store, "disk")
    if isReadOnly {
      return [
        check.problem(
          "The file system of \(path) is read-only", "Look into `dmesg`, and mount it for writing", .inputOutput)
      ]
    }
    let remedy = "Free some space, or move the store with `store.path`"
    switch freeMiB {
    case ..<64: return [check.problem("\(freeMiB) MiB are free for \(path)", remedy, .inputOutput)]
    case ..<512: return [check.warning("\(freeMiB) MiB are free for \(path)", remedy)]
    default: return [check.ok("\(freeMiB) MiB are free for \(path)")]
    }
  }
}

/// The clock and avahi-daemon of this machine.
enum SystemCheck {
  /// - Parameter root: stands for `/`, without a slash at its end.
  static func clock(root: String) -> [Finding] {
    let place = root + "/run/systemd/timesync"
    let isKnown = access(place, F_OK) == 0
    return clock(isSynchronized: isKnown ? access(place + "/synchronized", F_OK) == 0 : nil, now: Int64(time(nil)))
  }

  /// - Parameters:
  ///   - isSynchronized: what systemd-timesyncd says; nil where it does not set the clock.
  ///   - now: seconds since 1970.
  static func clock(isSynchronized: Bool?, now: Int64) -> [Finding] {
    let check = Check(.system, "clock")
    // 2025-01-01: before this program was written.
    guard now > 1_735_689_600 else {
      return [
        check.problem(
          "The clock is wrong: certificates and envelopes will not be accepted", "Run `sudo timedatectl set-ntp true`",
          .system)
      ]
    }
    guard let isSynchronized else {
      return [
        check.notChecked(
          "Whether the clock is synchronized: systemd-timesyncd does not set it",
          "See `timedatectl`, or `chronyc tracking`")
      ]
    }
    guard !isSynchronized else { return [check.ok("The clock is synchronized")] }
    return [
      check.warning(
        "The clock is not synchronized", "Run `sudo timedatectl set-ntp true`, or see that NTP gets through")
    ]
  }

  /// Without a daemon that could be asked.
  ///
  /// - Parameter root: stands for `/`, without a slash at its end.
  static func avahi(isWanted: Bool, root: String) -> [Finding] {
    let check = Check(.system, "avahi")
    guard isWanted else { return [check.note("Border routers are not searched for (setting `discovery.mdns`)")] }
    guard access(root + "/run/avahi-daemon/socket", F_OK) == 0 else {
      return [
        check.warning(
          "avahi-daemon does not run: border routers on the local network are not found",
          "Run `sudo apt-get install avahi-daemon`, or set `discovery.mdns: off`")
      ]
    }
    return [check.ok("avahi-daemon runs")]
  }
}

extension SystemCheck {
  /// Whether this machine reaches the devices behind border routers.
  ///
  /// - Parameters:
  ///   - home: nil where it cannot be seen.
  ///   - machine: what the kernel says; nil: nothing.
  static func devices(_ settings: Settings, _ home: Home?, machine: () -> MachineNetwork? = MachineNetwork.read)
    -> [Finding]
  {
    let check = Check(.system, "devices")
    guard settings.discovery == .auto, settings.matterController != .elsewhere, let home else { return [] }
    let routers = ThreadPath.routers(of: home)
    guard !routers.isEmpty else { return [] }
    guard ThreadPath.isWanted(settings.matterController) else {
      return [
        check.note(
          "No Matter server listens on this machine, so its way to the devices is not checked",
          "If your Matter controller runs here, set `discovery.matter_controller: here`")
      ]
    }
    guard let machine = machine() else {
      return [check.notChecked("Whether devices are reached from here: the kernel does not say which routes it has")]
    }
    let faults = ThreadPath(routers, machine).faults
    let findings = faults.map { fault in
      let words = fault.words
      return switch fault.weight {
      case .broken: check.problem(words.text, words.remedy, .system)
      case .doubtful: check.warning(words.text, words.remedy)
      case .known: check.note(words.text, words.remedy)
      }
    }
    if faults.contains(where: { $0.weight != .known }) { return findings }
    return findings + [check.ok("This machine has a route to the devices of the preferred network")]
  }
}

/// Whether the settings can be used, and who can read or change their file.
package enum SettingsCheck {
  private static let check = Check(.settings, "settings")

  package static func findings(_ result: SettingsResult) -> [Finding] {
    let found = result.problems.map { problem in
      let text = "\(problem.place): \(problem.message)"
      if problem.severity == .error { return check.problem(text, remedy) }
      guard isOpen(problem) else { return check.warning(text, remedy) }
      return check.problem(
        text,
        "Run `chmod o-rwx FILE` with that file, or remove the password from it and run `threadkeeper setup`, which "
          + "keeps it in the encrypted store", .notPermitted)
    }
    guard found.isEmpty else { return found }
    let source = result.file.map { "in \($0)" } ?? "are the defaults: there is no file; they"
    return [check.ok("The settings \(source) can be used")]
  }

  private static let remedy = "Correct it there. `threadkeeper check-config` checks the settings again"

  /// A secret that others may read: the settings can be used, and should not be.
  private static func isOpen(_ problem: SettingsProblem) -> Bool {
    problem.message.contains("every user of this machine")
  }

  /// - Parameter mode: permissions of the file.
  static func findings(file: String, mode: UInt32) -> [Finding] {
    let check = Check(.settings, "settings_file")
    guard mode & 0o002 != 0 else { return [check.ok("Not every user can change \(file)")] }
    return [check.problem("Every user of this machine can change \(file)", "Run `chmod o-w \(file)`", .notPermitted)]
  }
}
