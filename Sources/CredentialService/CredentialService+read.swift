// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `credentials/get`, `credentials/list` and `credentials/list_active`: of the own team only.
extension CredentialService {
  func getCredentials(_ request: ThreadRequest) throws -> AnswerData {
    // What another team holds is not there: no answer tells that it has it.
    guard let agent = request.agent, let team = try store.team(of: agent, in: home, tx),
      isOwn(team), let credential = try store.credential(of: agent, in: home, tx),
      let record = try record(credential)
    else {
      throw AnswerFailure(
        .notFound, field: "border_agent_id", "no credentials of this border router are stored")
    }
    return AnswerData(credentials: [record])
  }

  func listCredentials(onlyActive: Bool) throws -> AnswerData {
    let limit = context.mostEntries
    let found = try store.all(
      in: home, of: context.team, limit: limit.map { $0 + 1 }, tx)
    if let limit, found.readable.count + found.damaged.count > limit {
      throw AnswerFailure(
        .tooLarge, "there are more than \(limit), which no answer can hold")
    }
    var records: [CredentialRecord] = []
    for credential in found.readable {
      guard let record = try record(credential), record.isActive || !onlyActive else { continue }
      records.append(context.listsSecrets ? record : record.withoutSecret)
    }
    var data = AnswerData(credentials: records)
    if !found.damaged.isEmpty { data.damaged = found.damaged.map(\.description) }
    return data
  }
}
