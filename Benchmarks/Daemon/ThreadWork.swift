import Foundation

/// Nanoseconds that the threads of a process were at work, by their numbers, as the scheduler counts them
/// (`/proc/PID/task/TID/schedstat`): what others do on a processor is not in it.
struct ThreadWork {
  private(set) var threads: [String: Double] = [:]

  init() {}

  init(of process: Int32) {
    let directory = "/proc/\(process)/task"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names {
      let text = Machine.read("\(directory)/\(name)/schedstat") ?? ""
      threads[name] = text.split(separator: " ").first.flatMap { Double($0) }
    }
  }

  var total: Double { threads.values.reduce(0, +) }

  /// The thread that was at work longest.
  var busiest: String? { threads.max { $0.value < $1.value }?.key }

  /// What was done since `before`.
  static func - (after: ThreadWork, before: ThreadWork) -> ThreadWork {
    var work = ThreadWork()
    for (name, time) in after.threads { work.threads[name] = time - (before.threads[name] ?? 0) }
    return work
  }
}
