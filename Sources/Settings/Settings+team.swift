// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension Settings {
  /// Which teams users of the broker speak for. Of the names of `client_users`, none is given to a user of the broker.
  package var brokerTeams: BrokerTeams {
    BrokerTeams(teams, others: Set(clientUsers.values))
  }

  /// The team that a user of the broker speaks for: see `BrokerTeams.team`.
  package func team(ofUser user: String) -> String { brokerTeams.team(of: user) }

  /// The team that a user of this machine speaks for: what `client_users` says, otherwise, for those
  /// whose store it is, a team of the user's own, `uid/<number>`. No other team has such a name.
  ///
  /// - Parameters:
  ///   - user: as the kernel has it.
  ///   - daemon: the user whose daemon it is.
  /// - Returns: nil for a user who is nobody here.
  package func team(ofUID user: UInt32, daemon: UInt32 = geteuid()) -> String? {
    if let team = clientUsers[user] { return team }
    return user == daemon || user == 0 ? "uid/\(user)" : nil
  }
}
