// SPDX-License-Identifier: Apache-2.0

import Yams

/// Why Yams could not read a text. Holds nothing of the text but names of keys: a value near
/// the place may be a password.
enum YAMLFailure: Error {
  /// A mapping has the key twice; the mark is of the first.
  case duplicate(String, TextPosition)
  case syntax(String, TextPosition?)
}

extension YAMLDocument {
  static func compose(_ text: String) throws(YAMLFailure) -> Node? {
    do {
      // The basic resolver leaves every plain scalar as text. The default one would guess types
      // by regular expressions, which costs two megabytes and turns `no` into false.
      return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch let error as YamlError {
      throw failure(error)
    } catch {
      throw .syntax("unreadable", nil)
    }
  }

  private static func failure(_ error: YamlError) -> YAMLFailure {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let start = context.map { "\($0.text) that starts on line \($0.mark.line), " } ?? ""
      return .syntax(start + problem, TextPosition(mark))
    case .reader(let problem, _, _, _):
      return .syntax(problem, nil)
    case .duplicatedKeysInMapping(let names, let context):
      return .duplicate(names.first ?? "", TextPosition(context.mark))
    default:
      return .syntax("unreadable", nil)
    }
  }
}
