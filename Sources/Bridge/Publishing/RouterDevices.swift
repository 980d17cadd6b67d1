import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// The devices of border routers for Home Assistant, as they are published: the bytes of `HomeAssistantDevice.router`.
/// A device has eight kilobytes, of which all but some texts are the same for all routers of all homes. They come from
/// a template, which is made once for each form.
struct RouterDevices {
  /// In the order in which their texts are written.
  private enum Hole: Int, CaseIterable {
    case bridge, base, agent, name, vendor, model
    /// What the name begins an entity's id with.
    case slug

    /// Stands for the text in a sample; nothing else in a device looks like it. The base is in the bridge's id, so that
    /// comes first; ids of entities are in lower case.
    var mark: String {
      switch self {
      case .bridge: "threadkeeper_5D1E0C9A7B3F48E2"
      case .base: "5D1E0C9A7B3F48E2"
      case .agent: "a6c4d8f0b29e71355d1e0c9a7b3f48e2"
      case .name: "C83F6A1D94E7B052"
      case .vendor: "V5A0C7E19D3B8F64"
      case .model: "M94E7B0C83F6A1D5"
      case .slug: "c83f6a1d94e7b052_"
      }
    }
  }

  private struct Form: OptionSet, Hashable {
    let rawValue: UInt8
    static let isOnlySeen = Form(rawValue: 1)
    static let hasEntityIDs = Form(rawValue: 2)
    static let hasVendor = Form(rawValue: 4)
    static let hasModel = Form(rawValue: 8)
    static let isOfFirstHome = Form(rawValue: 16)
  }

  /// Pieces, with what comes between them.
  private struct Template {
    var bytes: [UInt8] = []
    /// Where each piece ends, and what follows it.
    var pieces: [(end: Int, hole: Hole)] = []
  }

  private let firstBase: String
  private let prefix: String
  private let version: String
  private let page: String?
  private let login: String?
  private var templates: [Form: Template] = [:]

  /// - Parameter login: of Home Assistant, where it decides about adoptions.
  init(firstBase: String, prefix: String, version: String, page: String? = nil, login: String?) {
    self.firstBase = firstBase
    self.prefix = prefix
    self.version = version
    self.page = page
    self.login = login
  }

  private func template(_ form: Form) -> Template {
    let home = BaseTopics.Home(name: "home", base: Hole.base.mark)
    let first = BaseTopics.Home(name: "first", base: firstBase)
    let topics = BaseTopics(form.contains(.isOfFirstHome) ? [home] : [first, home])
    guard var place = HomeAssistantPlace(home: "home", in: topics, prefix: prefix, version: version) else {
      return Template()
    }
    place.page = page
    // What is not ASCII has no ids of entities.
    let name = Hole.name.mark + (form.contains(.hasEntityIDs) ? "" : "\u{E9}")
    let sample = HomeAssistantDevice.router(
      .init(
        agent: Hole.agent.mark, name: name, vendor: form.contains(.hasVendor) ? Hole.vendor.mark : nil,
        model: form.contains(.hasModel) ? Hole.model.mark : nil, isOnlySeen: form.contains(.isOnlySeen)), place,
      login: login
    ).json(capacity: 8_192)
    let marks = Hole.allCases.map { hole in (hole, Array((hole == .name ? name : hole.mark).utf8)) }
    var template = Template()
    var index = 0
    next: while index < sample.count {
      for (hole, mark) in marks where sample[index...].starts(with: mark) {
        template.pieces.append((template.bytes.count, hole))
        index += mark.count
        continue next
      }
      template.bytes.append(sample[index])
      index += 1
    }
    return template
  }

  /// - Parameters:
  ///   - base: the home's base topic.
  ///   - bridge: the id of the home's own device.
  ///   - needsID: others look so named.
  mutating func json(_ router: Router, base: String, bridge: String, needsID: Bool = false) -> [UInt8] {
    // Each text once, as it is in JSON, then copies of it. Each begins where the one before ends.
    var texts = JSONWriter(capacity: 384)
    var ends = [Int](repeating: 0, count: Hole.allCases.count + 1)
    func end(_ hole: Hole) { ends[hole.rawValue + 1] = texts.bytes.count }
    var form: Form = base.hasBytes(of: firstBase) ? .isOfFirstHome : []
    if router.source == .mdns, router.dataset == nil { form.insert(.isOnlySeen) }
    texts.escaped(bridge)
    end(.bridge)
    texts.escaped(base)
    end(.base)
    texts.hex(router.agent)
    end(.agent)
    var name = Self.isVisible(router.name) ? router.name : nil
    if needsID, let unique = name.map({ "\($0) (\(router.agent))" }) { name = unique }
    if let name {
      texts.escaped(name)
    } else {
      texts.raw("Border router ")
      texts.hex(router.agent)
    }
    end(.name)
    if let vendor = router.vendor, Self.isVisible(vendor) {
      form.insert(.hasVendor)
      texts.escaped(vendor)
    }
    end(.vendor)
    if let model = router.model, Self.isVisible(model) {
      form.insert(.hasModel)
      texts.escaped(model)
    }
    end(.model)
    if let name {
      if texts.slug(name) { form.insert(.hasEntityIDs) }
    } else {
      form.insert(.hasEntityIDs)
      texts.raw("border_router_")
      texts.hex(router.agent)
      texts.byte(0x5F)
    }
    end(.slug)
    if let template = templates[form] { return Self.fill(template, texts.bytes, ends) }
    let template = template(form)
    templates[form] = template
    return Self.fill(template, texts.bytes, ends)
  }

  private static func fill(_ template: Template, _ texts: [UInt8], _ ends: [Int]) -> [UInt8] {
    func range(_ hole: Hole) -> Range<Int> { ends[hole.rawValue]..<ends[hole.rawValue + 1] }
    let size = template.pieces.reduce(template.bytes.count) { $0 + range($1.hole).count }
    return [UInt8](unsafeUninitializedCapacity: size) { json, count in
      guard var next = UnsafeMutableRawPointer(json.baseAddress) else { return }
      func append(_ bytes: UnsafeRawPointer, _ range: Range<Int>) {
        next.copyMemory(from: bytes + range.lowerBound, byteCount: range.count)
        next += range.count
      }
      var start = 0
      for (end, hole) in template.pieces {
        append(template.bytes, start..<end)
        append(texts, range(hole))
        start = end
      }
      append(template.bytes, start..<template.bytes.count)
      count = size
    }
  }

  private static func isVisible(_ text: String?) -> Bool {
    guard let text else { return false }
    // Most are seen by their first byte.
    if let first = text.utf8.first, (0x21...0x7E).contains(first) { return true }
    return text.contains { !$0.isWhitespace }
  }
}

extension JSONWriter {
  /// A name as the beginning of an entity's id, as Home Assistant makes it: small letters and digits, and `_` after
  /// each word.
  ///
  /// - Returns: false, and nothing is written, for what Home Assistant transliterates better itself.
  fileprivate mutating func slug(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { name in
      guard name.allSatisfy({ $0 < 0x80 }) else { return false }
      var isInWord = false
      for byte in name {
        switch byte {
        case 0x30...0x39, 0x61...0x7A: self.byte(byte)
        case 0x41...0x5A: self.byte(byte | 0x20)
        default:
          if isInWord { self.byte(0x5F) }
          isInWord = false
          continue
        }
        isInWord = true
      }
      if isInWord { byte(0x5F) }
      return true
    }
  }
}
