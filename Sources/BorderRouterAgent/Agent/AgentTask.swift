// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// An agent's own part: what it looks at, and what it publishes of it. `AgentLoop` calls all of it on one thread.
package protocol AgentTask {
  /// Between two looks; shorter while something is under way.
  var pause: Duration { get }

  /// Before the first look.
  mutating func start()
  mutating func look()
  mutating func handle(_ news: AgentNews)

  /// After a stop, or an error that ends the agent. Takes seconds at most.
  ///
  /// - Returns: what is published last.
  mutating func finish() -> [Publication]
}
