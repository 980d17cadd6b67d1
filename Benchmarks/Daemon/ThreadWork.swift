import Foundation

/// What the threads of a process did, by their numbers: nanoseconds that they were at work, as the scheduler counts them
/// (`/proc/PID/task/TID/schedstat`), so that what others do on a processor is not in it; or how often they waited.
struct ThreadWork {
  private(set) var threads: [String: Double] = [:]

  init() {}

  init(of process: Int32) {
    self.init(process, file: "schedstat") { $0.split(separator: " ").first.flatMap { Double($0) } }
  }

  /// How often each of them has waited for something, and was woken up.
  init(wakeUpsOf process: Int32) {
    self.init(process, file: "status") { text in
      let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Double($0) }
    }
  }

  private init(_ process: Int32, file: String, _ number: (String) -> Double?) {
    let directory = "/proc/\(process)/task"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names { threads[name] = number(Machine.read("\(directory)/\(name)/\(file)") ?? "") }
  }

  var total: Double { threads.values.reduce(0, +) }

  /// The thread that was at work longest.
  var busiest: String? { threads.max { $0.value < $1.value }?.key }

  /// What was done since `before`. Of threads that have ended meanwhile it is not known.
  static func - (after: ThreadWork, before: ThreadWork) -> ThreadWork {
    var work = ThreadWork()
    for (name, time) in after.threads { work.threads[name] = time - (before.threads[name] ?? 0) }
    return work
  }
}
