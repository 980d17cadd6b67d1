@testable import BorderRouterAgent

extension Agent {
  /// Runs for as long as `body`, and is stopped before this returns.
  func run(during body: () async throws -> Void) async throws {
    let task = Task { try await run() }
    do { try await body() } catch {
      stop()
      _ = await task.result
      throw error
    }
    stop()
    try await task.value
  }
}
