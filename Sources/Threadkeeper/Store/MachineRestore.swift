import FoundationEssentials
import Glibc
import KeychainCore
import Settings
import ThreadkeeperSupport

/// Puts back what a backup has beside the store: each file in its place on this machine, and none over another one
/// unless that is wanted.
struct MachineRestore {
  enum Action: String, Encodable {
    /// Nothing is there, or what the package put there.
    case put
    /// Another one is there, and goes.
    case replaced
    /// It is there already.
    case same
    /// Another one is there, and stays.
    case kept
  }

  struct Placed: Encodable {
    let path: String
    let action: Action
  }

  let machine: MachineFiles
  /// The configuration file of this machine.
  let configuration: SetupPlace
  let system: SystemPlaces
  /// Whether files that are there may go.
  let isReplacing: Bool
  private(set) var placed: [Placed] = []
  private var former: [(path: String, file: Former?)] = []
  /// Of what is replaced, until all is done: whatever ends this between leaves them.
  private var copies: [String] = []

  /// What a file was before.
  private struct Former {
    let contents: [UInt8]
    let status: stat
  }

  /// - Throws: `CommandFailure` with status 69 where the package was on the other machine, and is not here: nobody would
  ///   own its files.
  init(_ machine: MachineFiles, _ configuration: SetupPlace, _ system: SystemPlaces, replacing isReplacing: Bool)
    throws(CommandFailure)
  {
    (self.machine, self.configuration, self.system, self.isReplacing) = (machine, configuration, system, isReplacing)
    let isOfPackage =
      !machine.units.isEmpty || machine.files.contains { $0.place == .agents || $0.place == .agentState }
    guard isGivingAway, isOfPackage else { return }
    for account in [StoreOwner.service, StoreOwner.agents] where SystemAccount.user(account) == nil {
      throw CommandFailure(
        .unavailable, "there is no user \(account) here, and the backup is of a machine with the package",
        remedy: "install the package, and run it again")
    }
  }

  /// Whether files get the package's users: those of a system that is only prepared are not here.
  private var isGivingAway: Bool { geteuid() == 0 && system.isRunning }

  /// What `putFiles` does, and the token, whose place the settings decide.
  var plan: String {
    machine.files.map { file in
      guard let path = path(of: file) else { return "  the page's token, beside the store\n" }
      return "  \(MachineRestore.words(Placed(path: path, action: action(file, at: path))))\n"
    }.joined()
  }

  /// Puts all files in their places but the token.
  mutating func putFiles() throws(CommandFailure) {
    for file in machine.files { if let path = path(of: file) { try put(file, at: path) } }
  }

  /// As the owner of the store.
  mutating func putToken(at path: String) throws(CommandFailure) {
    for file in machine.files where file.place == .pageToken { try put(file, at: path) }
  }

  /// Whether the settings are those of the backup since `putFiles`.
  var hasPutSettings: Bool {
    placed.contains { $0.path == configuration.path && ($0.action == .put || $0.action == .replaced) }
  }

  /// What is put stays.
  mutating func forget() {
    for copy in copies { unlink(copy) }
    (former, copies) = ([], [])
  }

  /// Takes back what was put.
  mutating func undo() {
    var isBack = true
    for (path, file) in former.reversed() {
      if let file {
        do { try Self.write(file, to: path, replacing: true) } catch { isBack = false }
      } else {
        unlink(path)
      }
    }
    // What could not be put back needs its copy.
    if !isBack { copies = [] }
    forget()
    placed = []
  }

  /// Nil for the token.
  private func path(of file: MachineFiles.File) -> String? {
    switch file.place {
    case .settings: configuration.path
    case .besideSettings: FilePath.directory(of: configuration.path) + "/" + file.name
    case .agents: system.agentDirectory + "/" + file.name
    case .agentState: system.agentState + "/" + file.name
    case .pageToken: nil
    }
  }

  private func action(_ file: MachineFiles.File, at path: String) -> Action {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .put }
    let found = Self.contents(path)
    if found == Array(file.contents) { return .same }
    if file.place == .settings, let found, found == Self.contents(system.packagedConfiguration) { return .put }
    return isReplacing ? .replaced : .kept
  }

  /// Of an ordinary file that may be one of these.
  private static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return try? StandardInput.read(descriptor, named: path, limit: MachineFiles.mostBytes)
  }

  private mutating func put(_ file: MachineFiles.File, at path: String) throws(CommandFailure) {
    let action = action(file, at: path)
    if action == .put || action == .replaced {
      var status = stat()
      let isThere = lstat(path, &status) == 0
      let before = isThere ? Self.contents(path).map { Former(contents: $0, status: status) } : nil
      guard !isThere || before != nil else {
        throw CommandFailure(.cannotCreate, "\(path) is no ordinary file", remedy: "move it away, and try again")
      }
      try makeDirectory(FilePath.directory(of: path), file.place)
      if action == .replaced, let before {
        let copy = WholeFile.copyName(of: path)
        try Self.write(before, to: copy, replacing: false)
        copies.append(copy)
      }
      let (user, group) = owner(file.owner, file.group ?? .root, in: file.place)
      try Self.write(Array(file.contents), to: path, replacing: isThere) { (user, group, file.mode & 0o755) }
      former.append((path, before))
    }
    placed.append(Placed(path: path, action: action))
  }

  private static func write(_ file: Former, to path: String, replacing isReplacing: Bool) throws(CommandFailure) {
    try write(file.contents, to: path, replacing: isReplacing) {
      (file.status.st_uid, file.status.st_gid, file.status.st_mode & 0o777)
    }
  }

  /// Whole, or not at all. The owner and the mode are given before it has its name.
  private static func write(
    _ contents: [UInt8], to path: String, replacing isReplacing: Bool, as owner: () -> (uid_t, gid_t, mode_t)
  ) throws(CommandFailure) {
    do throws(KeychainError) {
      let draft = try BackupDraft(path, replacing: isReplacing)
      try draft.file.write(contents, at: 0)
      let (user, group, mode) = owner()
      guard fchown(draft.file.descriptor, user, group) == 0, fchmod(draft.file.descriptor, mode) == 0 else {
        throw KeychainError(.writePermission, "\(path) cannot be given away: \(String(cString: strerror(errno)))")
      }
      try draft.file.sync()
      try draft.place()
    } catch { throw CommandFailure(.cannotCreate, error.message, remedy: "nothing was changed") }
  }

  private func makeDirectory(_ path: String, _ place: MachineFiles.Place) throws(CommandFailure) {
    guard access(path, F_OK) != 0 else { return }
    try PrivateDirectory.make(path)
    guard isGivingAway, place != .pageToken else { return }
    let (user, group) = owner(
      place == .agentState ? .agent : .root, place == .settings || place == .besideSettings ? .daemon : .agent,
      in: place)
    guard chown(path, user, group) == 0, chmod(path, place == .agentState ? 0o700 : 0o750) == 0 else {
      throw CommandFailure(.cannotCreate, "\(path) cannot be given away: \(String(cString: strerror(errno)))")
    }
  }

  /// Who gets a file of a place; this user where nothing is given away, and for what has no such user here.
  private func owner(_ owner: MachineFiles.Owner, _ group: MachineFiles.Owner, in place: MachineFiles.Place) -> (
    user: uid_t, group: gid_t
  ) {
    let isGiven =
      switch place {
      case .settings, .besideSettings: configuration.isService
      case .agents, .agentState: true
      case .pageToken: false
      }
    guard isGivingAway, isGiven else { return (geteuid(), getegid()) }
    return (SystemAccount.user(owner.account) ?? 0, SystemAccount.group(group.account) ?? 0)
  }
}

extension MachineRestore {
  /// What is left, and what is done.
  struct Report: Encodable {
    let files: [Placed]
    /// Host and port of the broker; nil: the private one.
    let broker: String?
    /// Units.
    let started: [String]
    /// Commands for a person.
    let next: [String]
    /// Why the unit does not know where the store is, if so.
    let problem: String?
  }

  /// Has systemd start what ran on the other machine.
  ///
  /// - Parameter isNew: whether there was no store: else a person looks first who has access again.
  func start(isNew: Bool, settings: Settings) -> Report {
    var problem: String?
    var left: [[String]] = []
    do throws(CommandFailure) {
      let dropIn = StoreDropIn(settings, system)
      if configuration.isService, try dropIn.write() { left = [["systemctl", "daemon-reload"]] }
    } catch { problem = error.message }
    left += Self.starting(machine.units) { system.hasSystemd && SystemdService($0).isActive }
    if isNew, problem == nil, StoreOwner.isRoot, system.hasSystemd {
      while let command = left.first {
        let tool = ToolProcess(command, mostOutput: 64 << 10, timeout: .seconds(120), showsErrors: true)
        guard (try? tool.output(until: nil)) != nil else { break }
        left.removeFirst()
      }
    }
    return Report(
      files: placed, broker: machine.broker, started: left.isEmpty ? machine.units : [],
      next: left.map { (["sudo"] + $0).joined(separator: " ") }, problem: problem)
  }

  /// Commands that have units run with what was put back: one that runs already reads it only when it starts again.
  static func starting(_ units: [String], isActive: (String) -> Bool) -> [[String]] {
    let (active, others) = (units.filter(isActive), units.filter { !isActive($0) })
    return (others.isEmpty ? [] : [["systemctl", "enable", "--now"] + others])
      + (active.isEmpty ? [] : [["systemctl", "enable"] + active, ["systemctl", "restart"] + active])
  }

  fileprivate static func words(_ placed: Placed) -> String {
    let path = placed.path.printable
    return switch placed.action {
    case .put: path
    case .replaced: "\(path), in place of another one"
    case .same: "\(path), which is there already"
    case .kept: "\(path) stays as it is here; --force replaces it"
    }
  }
}

extension MachineRestore.Report {
  var text: String {
    var text = files.isEmpty ? "" : "Beside the store:\n"
    for file in files { text += "  \(MachineRestore.words(file))\n" }
    if let broker {
      text +=
        "Nothing of the broker \(broker.printable) is in the backup. It needs the logins and the access list that it"
        + " had; if it ran on the old machine, install it here, and run `sudo threadkeeper setup`.\n"
    }
    if let problem { text += "\(problem).\n" }
    if !started.isEmpty { text += "Started: \(started.joined(separator: ", ")).\n" }
    if !next.isEmpty { text += "Then run:\n" + next.map { "  \($0)\n" }.joined() }
    return text
  }
}
