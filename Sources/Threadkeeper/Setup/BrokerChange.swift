import Broker
import FoundationEssentials
import Glibc
import Settings
import ThreadkeeperSupport

/// A file of the broker's that setup changes, or makes.
struct BrokerFile: Equatable {
  let path: String
  /// Nil where there is none yet.
  let before: String?
  let after: String
  let access: WholeFile.Access
  /// Lines of logins are shown without what stands for their passwords.
  var isSecret = false

  /// What changes, line by line: `-` goes, `+` comes.
  var difference: [String] { Self.difference(before ?? "", after).map { isSecret ? Self.masked($0) : $0 } }

  static func difference(_ before: String, _ after: String) -> [String] {
    func lines(_ text: String) -> [String] {
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if lines.last == "" { lines.removeLast() }
      return lines
    }
    let (old, new) = (lines(before), lines(after))
    var (removed, added): (Set<Int>, Set<Int>) = ([], [])
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): added.insert(offset)
      }
    }
    var shown: [String] = []
    var (from, to) = (0, 0)
    while from < old.count || to < new.count {
      if removed.contains(from) {
        shown.append("-\(old[from])")
        from += 1
      } else if added.contains(to) {
        shown.append("+\(new[to])")
        to += 1
      } else {
        (from, to) = (from + 1, to + 1)
      }
    }
    return shown
  }

  private static func masked(_ line: String) -> String {
    guard let colon = line.firstIndex(of: ":") else { return line }
    return "\(line[...colon])…"
  }
}

/// How the broker of this machine is made to read its files.
struct BrokerRestart {
  let command: [String]
  /// Of systemd, where it is one.
  var unit: String?

  /// - Parameters:
  ///   - given: a command for a shell.
  ///   - isDebian: the broker has Debian's place of files.
  /// - Returns: nil where none is known.
  static func find(_ given: String?, isDebian: Bool) -> BrokerRestart? {
    if let given { return BrokerRestart(command: ["sh", "-c", given]) }
    guard isDebian, SystemdService.isHere, SystemdService("mosquitto").isActive else { return nil }
    return BrokerRestart(command: ["systemctl", "restart", "mosquitto"], unit: "mosquitto")
  }

  func run() throws(CommandFailure) {
    // A broker that has failed some times in a row would not be started again.
    if let unit {
      _ = try? ToolProcess(["systemctl", "reset-failed", unit], mostOutput: 1 << 16, timeout: .seconds(30)).output(
        until: nil)
    }
    do {
      _ = try ToolProcess(command, mostOutput: 1 << 16, timeout: .seconds(90), showsErrors: true).output(until: nil)
    } catch { throw CommandFailure(.unavailable, "`\(command.joined(separator: " "))` \(error)") }
  }
}

/// What setup changes at the broker of this machine, after a person has seen it.
struct BrokerChange {
  /// In the order in which they are written: a file is there before another one names it.
  let files: [BrokerFile]
  /// Where what is needed to undo it is kept.
  let undo: BrokerUndo.Place
  let restart: BrokerRestart

  /// A password file where the broker had none: until then it asks no client for a password.
  var newPasswordFile: BrokerFile? { files.first { $0.isSecret && $0.before == nil } }

  /// Without a person who is asked, who is shut out has to be said.
  ///
  /// - Throws: `CommandFailure` with status 64.
  func checkUnasked(_ flags: SetupFlags) throws(CommandFailure) {
    guard let new = newPasswordFile, !flags.refuseUnknownLogins else { return }
    throw CommandFailure(
      .usage, "--make-login: with \(new.path) the broker would refuse clients with a name that is not in it",
      remedy: "nothing was written; add --refuse-unknown-logins if it may, or answer at a terminal")
  }

  /// Writes the files, with copies, and has the broker read them. On a failure they are as before.
  ///
  /// - Parameter test: throws where the broker does not do what it should.
  /// - Returns: the copies.
  func apply(now: Date = Date(), test: () async throws -> Void) async throws -> [String] {
    for file in files where try WholeFile.readIfThere(file.path) != file.before { throw Self.changed(file.path) }
    let former = try undo.load()
    var record = former
    var copies: [String] = []
    var written: [BrokerFile] = []
    do {
      for file in files {
        if let copy = try record.note(file, at: now) { copies.append(copy) }
        // Before the file itself: what was written can always be undone.
        try undo.save(record)
        written.append(file)
        try WholeFile.write(file.after, to: file.path, new: file.access) { () throws(CommandFailure) in
          if try WholeFile.readIfThere(file.path) != file.before { throw Self.changed(file.path) }
        }
      }
      try restart.run()
      try await test()
    } catch {
      for file in written.reversed() where WholeFile.read(file.path) == file.after {
        if let before = file.before {
          try? WholeFile.write(before, to: file.path, new: file.access) {}
        } else {
          unlink(file.path)
        }
      }
      let left = written.filter { WholeFile.read($0.path) == $0.after }.map(\.path)
      // What could not be put back now needs its copy.
      if left.isEmpty {
        try? undo.save(former)
        for copy in copies { unlink(copy) }
      }
      let files =
        left.isEmpty
        ? "the broker's files are as they were"
        : "\(left.listed) could not be put back: run `threadkeeper setup --undo`"
      var isRunning = true
      do { try restart.run() } catch { isRunning = false }
      guard let failure = error as? CommandFailure else { throw error }
      throw CommandFailure(
        failure.status, failure.message,
        remedy: "\(files)\(isRunning ? "" : ", the broker was not restarted"), and no settings were written;"
          + " `journalctl -u mosquitto -n 20` may say more")
    }
    return copies
  }

  static func changed(_ path: String) -> CommandFailure {
    CommandFailure(.temporary, "\(path) was changed meanwhile", remedy: "run it again")
  }

  /// A line of a password file, made by Mosquitto's own tool: no password is in a list of processes.
  ///
  /// - Throws: `CommandFailure`.
  static func passwordLine(_ login: String, _ password: SecretText) throws -> String {
    // No name that others can guess, and a directory that is not there already.
    let directory = "/tmp/threadkeeper-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    guard mkdir(directory, 0o700) == 0 else {
      throw CommandFailure(.system, "no directory can be made in /tmp: \(String(cString: strerror(errno)))")
    }
    let file = "\(directory)/passwords"
    defer {
      unlink(file)
      rmdir(directory)
    }
    try WholeFile.write("\(login):\(password.revealed)\n", to: file, new: .init(mode: 0o600)) {}
    do {
      _ = try ToolProcess(["mosquitto_passwd", "-U", file], mostOutput: 1 << 16, timeout: .seconds(30)).output(
        until: nil)
    } catch { throw CommandFailure(.unavailable, "mosquitto_passwd \(error)", remedy: "install the package mosquitto") }
    let line = WholeFile.read(file)?.split(separator: "\n").first.map(String.init) ?? ""
    guard line.hasPrefix("\(login):$") else { throw CommandFailure(.unavailable, "mosquitto_passwd made no login") }
    return line
  }
}
