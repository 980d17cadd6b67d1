// SPDX-License-Identifier: Apache-2.0

import Testing

#if Fleet
@testable import Fleet

@Suite("PostgreSQL's errors")
struct PostgresErrorTests {
  @Test("An error says nothing of a server that was not reached")
  func noState() {
    #expect(PostgresError(.connection, "no server").sqlState.isEmpty)
  }
}
#endif
