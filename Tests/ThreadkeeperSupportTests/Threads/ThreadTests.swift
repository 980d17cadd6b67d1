import Dispatch
import Glibc
import Synchronization
import Testing

@testable import ThreadkeeperSupport

@Suite("A system thread") struct SystemThreadTests {
  private final class Outcome<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    var value: Value? { state.withLock { $0 } }
    func set(_ value: Value) { state.withLock { $0 = value } }
  }

  @Test("join returns after the body has") func join() throws {
    let (permission, outcome) = (DispatchSemaphore(value: 0), Outcome<Bool>())
    let thread = try SystemThread {
      permission.wait()
      outcome.set(true)
    }
    #expect(outcome.value == nil)
    permission.signal()
    thread.join()
    #expect(outcome.value == true)
  }

  @Test("The body runs on a thread of its own") func ownThread() throws {
    let caller = UInt(pthread_self())
    let outcome = Outcome<UInt>()
    try SystemThread { outcome.set(UInt(pthread_self())) }.join()
    #expect(outcome.value != nil && outcome.value != caller)
  }

  @Test("It blocks the signals of the process, but not those that it causes itself") func signals() async throws {
    let mask = try await SystemThread.result {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      return mask
    }
    func isBlocked(_ signal: Int32) -> Bool { withUnsafePointer(to: mask) { sigismember($0, signal) == 1 } }
    #expect([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGALRM].allSatisfy(isBlocked))
    #expect(![SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGSEGV, SIGSYS, SIGTRAP].contains(where: isBlocked))
  }

  @Test("The thread that starts one keeps its own mask") func callerMask() throws {
    func mask() -> [Int32] {
      var mask = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &mask)
      return (1..<32).map { sigismember(&mask, $0) }
    }
    let before = mask()
    try SystemThread {}.join()
    #expect(mask() == before)
  }

  @Test("The result is what the body returns or throws") func result() async throws {
    struct Failed: Error {}
    #expect(try await SystemThread.result { 42 } == 42)
    await #expect(throws: Failed.self) { try await SystemThread.result { throw Failed() } }
  }

  @Test("More bodies than Dispatch has threads wait at the same time") func many() async throws {
    let all = 200
    let (arrived, permission) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for _ in 0..<all {
      SystemThread.run {
        arrived.signal()
        permission.wait()
      }
    }
    // Returns only when every one of them runs.
    try await SystemThread.result { for _ in 0..<all { arrived.wait() } }
    for _ in 0..<all { permission.signal() }
  }
}

@Suite("Signals that wake a thread", .timeLimit(.minutes(10))) struct WakeSignalTests {
  @Test("A raised signal ends the wait, also when it was raised before, until it is cleared") func raised() {
    let (first, second) = (WakeSignal(), WakeSignal())
    for _ in 0..<2 { second.raise() }
    let start = ContinuousClock.now
    WakeSignal.wait(for: [first, second], within: .seconds(600))
    #expect(ContinuousClock.now - start < .seconds(300))
    #expect(!first.isRaised && second.isRaised)
    for _ in 0..<2 { second.clear() }
    #expect(!second.isRaised)
    // One byte at most, so that nothing is left of two.
    WakeSignal.wait(for: [first, second], within: .milliseconds(20))
    #expect(ContinuousClock.now - start > .milliseconds(20))
  }

  @Test("No raise is lost, and what was written before it is seen, however often it is cleared") func races() throws {
    let signal = WakeSignal()
    let written = Atomic(0)
    let rounds = 200_000
    let raising = try SystemThread {
      for round in 1...rounds {
        written.store(round, ordering: .relaxed)
        signal.raise()
      }
    }
    var (seen, longest) = (0, Duration.zero)
    while seen < rounds {
      let start = ContinuousClock.now
      WakeSignal.wait(for: [signal], within: .seconds(60))
      longest = max(longest, start.duration(to: .now))
      signal.clear()
      seen = written.load(ordering: .relaxed)
    }
    raising.join()
    #expect(longest < .seconds(30))
  }

  @Test("Times for poll are rounded up, and never negative or too large") func milliseconds() {
    #expect(Duration.microseconds(1).pollMilliseconds == 1)
    #expect(Duration.milliseconds(5).pollMilliseconds == 6)
    #expect(Duration.seconds(-5).pollMilliseconds == 0)
    #expect(Duration.seconds(1 << 40).pollMilliseconds == 1 << 30)
  }
}
