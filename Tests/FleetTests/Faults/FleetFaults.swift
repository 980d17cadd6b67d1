// SPDX-License-Identifier: Apache-2.0

#if Fleet

import TestKit
import Testing

/// What happens to nodes while messages come: nothing that the broker has acknowledged is lost, the last word of each
/// router stays the last, and homes are kept apart. Each is one scene with real processes; one at a time, because they
/// mostly wait.
@Suite(
  "Faults of nodes", .serialized, .timeLimit(.minutes(30)),
  .enabled(if: PostgresServer.isAvailable, "there is no PostgreSQL"))
struct NodeFaults {}

/// The same for servers and connections.
@Suite(
  "Faults of a fleet's servers", .serialized, .timeLimit(.minutes(30)),
  .enabled(if: PostgresServer.isAvailable, "there is no PostgreSQL"))
struct ServerFaults {}

#endif
