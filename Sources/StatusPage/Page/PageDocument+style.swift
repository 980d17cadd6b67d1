// SPDX-License-Identifier: Apache-2.0

extension PageDocument {
  /// Text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2, 1.4.3); see `PageDocumentTests`.
  static let style = """
    :root{color-scheme:light dark;--back:#fff;--card:#f4f6f8;--text:#1b1f24;--dim:#50575f;--line:#c5ccd3;\
    --good:#136c2e;--bad:#a40e26;--warn:#7a4b00;--mark:#0b5cad;--on:#fff}
    @media (prefers-color-scheme:dark){:root{--back:#14171a;--card:#1f2428;--text:#e8ebee;--dim:#a9b1ba;\
    --line:#485059;--good:#6fd08c;--bad:#ff9a9f;--warn:#f0bd62;--mark:#7fbcff;--on:#10161c}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:72rem;padding:0 1rem 2rem;background:var(--back);color:var(--text);\
    font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
    header{display:flex;flex-wrap:wrap;align-items:baseline;gap:.25rem 1rem}
    h1{font-size:1.5rem;margin:1rem 0 .25rem}h2{font-size:1.15rem;margin:1.5rem 0 .5rem}
    h3,h4{font-size:1.05rem;margin:0 0 .5rem}p{margin:.25rem 0}
    .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--back)}
    a,.link{color:var(--mark)}
    :focus-visible{outline:3px solid var(--mark);outline-offset:2px}
    .dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
    #verdict{font-weight:600;font-size:1.1rem}
    #away{border:2px solid var(--bad);color:var(--bad);padding:.5rem .75rem;border-radius:.5rem}
    .grid{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
    .card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.75rem}
    #alerts .card,#consents .card{margin-bottom:.6rem}
    .net{border-width:2px}.net.preferred{border-color:var(--mark)}
    .badge{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:0 .6rem;\
    font-size:.85rem;font-weight:600;margin:0 0 0 .4rem}
    .preferred .badge{background:var(--mark);color:var(--on);border-color:var(--mark)}
    ul{list-style:none;margin:0;padding:0}
    .routers li{position:relative;margin:0 0 0 .6rem;padding:.35rem 0 .35rem 1.2rem;border-left:2px solid var(--line)}
    .routers li::before{content:"";position:absolute;left:-.5rem;top:.75rem;width:.85rem;height:.85rem;\
    border-radius:50%;border:2px solid var(--good);background:var(--good)}
    .routers li.off::before{background:var(--back);border-color:var(--bad)}
    .name{font-weight:600}
    .critical,.warning{border-left:.4rem solid var(--bad)}.warning{border-left-color:var(--warn)}
    dl{margin:0}.part{display:flex;gap:1rem;padding:.1rem 0}dt{font-weight:600;min-width:6rem}dd{margin:0}
    .events li{padding:.25rem 0;border-bottom:1px solid var(--line)}
    button{font:inherit;min-height:2.75rem;padding:.25rem .9rem;margin:.4rem .4rem 0 0;border-radius:.5rem;\
    border:2px solid var(--mark);background:var(--back);color:var(--mark);cursor:pointer}
    button.main{background:var(--mark);color:var(--on)}button:disabled{opacity:.6}
    @media (prefers-reduced-motion:no-preference){button:hover{filter:brightness(1.1)}}
    """
}
