import Broker
import Home
import ThreadDataset

/// Where an input comes from: a topic of the broker.
package struct MessageOrigin: Sendable {
  /// Its beginning.
  package var topic: String
  /// Nil where the topic is wrong.
  package var user: String?
  /// Where the publisher of an event asks for what became of it, or a request is answered.
  package var reply: ReplyAddress?
  /// A request: it is answered by its output.
  @Boxed package var asked: AskedRequest?
}

/// What became of one input. Signs of life have none.
package struct LoopOutcome: Sendable {
  /// The name of the home.
  package let home: String
  /// Nil: a local call, or the clock.
  package var origin: MessageOrigin?
  package var output = HomeOutput()
  /// Why a message was not acted upon, in words.
  package var rejection: Rejection?
  /// The router that a rejected message is about.
  package var router: BorderAgentID?
}

extension LoopOutcome {
  var mayBeAnswered: Bool { origin?.reply != nil || hasAnswers }

  /// Whether somebody waits for what its home has to say.
  var hasAnswers: Bool {
    origin?.asked != nil && output.answer != nil || !output.settled.isEmpty || !output.orders.isEmpty
      || !output.storeOrders.isEmpty
  }
}

/// A batch that is on disk.
package struct CommittedBatch: Sendable {
  package let time: WireTime
  /// In the order of their inputs.
  package private(set) var outcomes: [LoopOutcome] = []
  /// The places of those that may be answered: to look at each later would copy it.
  private(set) var answerable: [Int] = []
  /// What has changed of each home.
  package internal(set) var changes: [(home: String, changes: Home.Changes)] = []
  /// Messages of the broker, whatever became of them.
  package internal(set) var received = 0
  /// Those that repeated earlier ones.
  package internal(set) var duplicates = 0
  /// Those of logins that publish too many, of which no rejection is published.
  package internal(set) var dropped = 0
  /// Those to homes that are not in the shard: there is nowhere to publish a rejection.
  var misplaced = Rejections()
  /// Retained ones to such homes, which are ignored.
  var misplacedRetained = 0
  /// The ids of the messages for the broker that were stored; empty, and beginning with the next id, where there are
  /// none.
  package internal(set) var messages: Range<Int64> = 1..<1
  var news = BatchNews()
  /// What the store took; nil: there was nothing to write.
  package internal(set) var commitTime: Duration?
  /// Rows that it has written.
  package internal(set) var rows = 0

  package var isEmpty: Bool { outcomes.isEmpty && received == 0 && changes.allSatisfy(\.changes.isEmpty) }

  mutating func add(_ outcome: consuming LoopOutcome) {
    if outcome.mayBeAnswered { answerable.append(outcomes.count) }
    outcomes.append(outcome)
  }
}

/// Who makes messages of what happens, and acts upon what is on disk. All but the first and the last are called by the
/// thread that has the loop, one call after the other in the order of the commits: they must return soon, and have no
/// loop that they could call.
package protocol LoopFollower: Sendable {
  /// By the thread that brings something, before it has the loop: to ask who holds locks of his own.
  func willHandle()

  /// What is published of it, as rows that are stored with what caused them.
  func messages(of outcome: LoopOutcome, at now: WireTime) -> [[UInt8]]

  /// What happened, for people.
  ///
  /// - Parameter home: one of them by its name, after all of the batch.
  func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews

  /// - Parameter homes: as they are on disk now.
  func committed(_ batch: CommittedBatch, _ homes: CommittedHomes)

  /// By the same thread, when it has the loop no more.
  func hasHandled()
}

extension LoopFollower {
  package func news(of batch: CommittedBatch, home: (String) -> Home?) -> BatchNews { BatchNews() }
  package func willHandle() {}
  package func hasHandled() {}
}

/// The settings name no such home.
package struct UnknownHome: Error, Hashable { package let name: String }
