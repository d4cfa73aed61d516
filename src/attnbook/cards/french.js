// The French of an English sentence, as phrases.py and sentences.py have it. Each function reads a part of the sentence
// from the left and returns its French, before words meet.
window.attnlibFrench ??= ({ nouns, adjectives, verbs, places, conjunctions, elided, contracted }) => {
  const ARTICLES = ["the", "a", "an"], SUBJECTS = ["animal", "person"], described = Object.keys(adjectives);
  const vowel = word => /^[aeéiouh]/.test(word), an = word => /^(?!european)[aeiou]/.test(word) ? "an" : "a";
  const meet = (left, right) => elided[left] && vowel(right) ? [elided[left], right]
    : [].concat(contracted[`${left} ${right}`] ?? [left, right]);
  const joined = french => french.reduceRight((told, word) =>
    told.length ? [...meet(word, told[0]), ...told.slice(1)] : [word], []);

  function spoken(article, list, { french, feminine, plural }) {   // adjectives before the noun, or reversed after
    const told = [french], form = (forms, next) => forms[feminine ? 2 + 2 * plural : plural ? 3 : Number(vowel(next))];
    for (const { before, forms } of list.map(word => adjectives[word]).reverse())
      if (before) told.unshift(form(forms, told[0]));
      else told.push(form(forms, "x"));
    return [plural ? "les" : (article === "the" ? ["le", "la"] : ["un", "une"])[feminine], ...told];
  }

  // The groups that "and" joins, or none if this is no sentence; the French; the number of clauses; what may come next.
  function read(words) {
    const may = new Set(), groups = [];
    let at = 0, clauses = 0;

    function take(list, offered = list) {   // the next word, if the list has it
      if (at === words.length) offered.forEach(word => may.add(word));
      return list.includes(words[at]) ? words[at++] : undefined;
    }

    function need(list, offered) {
      const word = take(list, offered);
      if (word === undefined) throw read;
      return word;
    }

    function phrase(kinds, { articles = ARTICLES, whole = true } = {}) {
      const article = need(articles), list = [];
      const fits = word => article === "the" || !nouns[word]?.plural && (list.length || an(word) === article);
      for (;;) {
        const common = kinds.filter(kind => list.every(word => adjectives[word].kinds.includes(kind)));
        const more = described.slice(described.indexOf(list.at(-1)) + 1)
          .filter(word => fits(word) && adjectives[word].type !== adjectives[list.at(-1)]?.type);
        const named = Object.keys(nouns).filter(fits);
        const word = need([...more, ...named], [...named.filter(word => common.includes(nouns[word].kind)),
          ...more.filter(word => common.some(kind => adjectives[word].kinds.includes(kind)))]);
        if (adjectives[word]) list.push(word);
        else return modified(spoken(article, list, nouns[word]), nouns[word], whole);
      }
    }

    function modified(french, { kind, plural }, whole) {   // by an owner or a relative clause
      if (take(["of"], kind !== "person" ? ["of"] : []))
        french.push("de", ...phrase(["person"], { whole: false }).french);
      else if (take(["that"], whole ? ["that"] : [])) {
        if (at === words.length) take(ARTICLES);
        if (ARTICLES.includes(words[at])) french.push("que", ...predicate(phrase(SUBJECTS, { whole: false }), kind));
        else french.push("qui", ...predicate({ french: [], kind, plural }, undefined, false));
      }
      return { french, kind, plural };
    }

    function predicate({ french, kind, plural }, object, whole = true) {   // the object, if it is before
      const negated = take([plural ? "do" : "does"]) && need(["not"]), end = plural || negated ? "" : "s";
      const known = Object.keys(verbs).filter(word => !object || verbs[word].kinds.length && !verbs[word].to);
      const meant = known.filter(word => verbs[word].subjects.includes(kind)
        && (!object || verbs[word].kinds.includes(object)));
      const word = need(...[known, meant].map(list => list.map(word => word + end)));
      const { forms, particle, to, kinds } = verbs[end ? word.slice(0, -1) : word];
      const told = [...french, ...negated ? ["ne", forms[plural], "pas"] : [forms[plural]], ...to ? [to] : []];
      clauses++;
      if (particle) need([particle]);
      if (object || !kinds.length) return told;
      const complement = phrase(kinds, { articles: negated && !to ? ["the"] : ARTICLES, whole });
      return [...told, ...complement.french];
    }

    const clause = () => predicate(phrase(SUBJECTS));

    function part(rest) {   // with its English
      const from = at, french = rest();
      return french && { french, english: words.slice(from, at) };
    }

    const begun = (table, rest) => {
      const word = take(Object.keys(table));
      return word && [...table[word].split(" "), ...rest()];
    };
    const place = () => begun(places, () => phrase(["place"]).french);
    const subordinate = () => begun(conjunctions, () => [...clause(), ...place() ?? []]);

    function group() {
      let there = part(place), second = there ? undefined : part(subordinate);
      const front = there ?? second, main = part(clause);
      there ??= part(place);
      second ??= part(subordinate);
      return { main, there, second, front };
    }

    try {
      do groups.push(group()); while (take(["and"]));
      if (at < words.length) throw read;
    } catch (error) {
      if (error !== read) throw error;
      return { may };
    }
    const told = ({ main, there, second }) => [main, there, second].flatMap(part => part?.french ?? []);
    return { groups, french: joined(groups.flatMap((one, n) => [...n ? ["et"] : [], ...told(one)])), clauses, may };
  }

  // The parts of a group, with one of them in front.
  const inOrder = ({ main, there, second }, front) =>
    [front, ...[main, there, second].filter(part => part !== front)];

  // The English of groups, with what French puts last put first in a share of them.
  function turned(groups, share) {
    const movable = groups.filter(({ there, second }) => there || second);
    return groups.flatMap((group, n) => {
      const m = movable.indexOf(group), moved = m >= 0 && Math.floor((m + 1) * share) > Math.floor(m * share);
      const parts = inOrder(group, moved ? group.second ?? group.there : group.main);
      return [...n ? ["and"] : [], ...parts.flatMap(part => part?.english ?? [])];
    });
  }

  return { read, turned, inOrder };
};

// Right and wrong.
window.attnlibAlign ??= (() => {
  const { match } = attnlibCards, END = "(end)";

  const cut = (list, mark) => list.reduce((parts, word, n) => {
    if (n && word === mark) parts.push([]);
    parts.at(-1).push(n);
    return parts;
  }, [[]]);

  // For clauses of ours, those of theirs with which they share most words, both in order; a clause that is like none
  // takes a free place between its neighbors, and -1 if there is none.
  function paired(shared, G, K) {
    const most = Array.from({ length: G + 1 }, () => Array.from({ length: K + 1 }, () => 0)), pairs = Array.from({ length: G }, () => -1);
    for (let g = G - 1; g >= 0; g--)
      for (let k = K - 1; k >= 0; k--)
        most[g][k] = Math.max(shared[g][k] + most[g + 1][k + 1], most[g + 1][k], most[g][k + 1]);
    for (let g = 0, k = 0; g < G && k < K;)
      if (shared[g][k] > 1 && shared[g][k] + most[g + 1][k + 1] === most[g][k]) pairs[g++] = k++;
      else if (most[g][k + 1] >= most[g + 1][k]) k++;
      else g++;
    pairs.forEach((k, g) => {
      const before = Math.max(-1, ...pairs.slice(0, g)), after = pairs.slice(g + 1).find(k => k >= 0) ?? K;
      if (k < 0 && before + 1 < after) pairs[g] = before + 1;
    });
    return pairs;
  }

  // Where each of our words stands in theirs: clauses first, then words within a clause; -1 where it is wrong.
  // `clause` is the right clause that it belongs to. `place` is where it stands, right or in place of a missing word.
  function align(ours, theirs) {
    const body = list => list.at(-1) === END ? list.slice(0, -1) : list, own = cut(body(ours), "et"), there = cut(body(theirs), "et");
    const found = own.map(a => there.map(b => match(a.map(n => ours[n]), b.map(n => theirs[n]))));
    const shared = found.map(row => row.map(places => places.filter(n => n >= 0).length));
    const fits = ours.map(() => -1), place = [...fits], clause = [...fits], lacks = ours.map(() => false);
    const pairs = paired(shared, own.length, there.length);
    own.forEach((list, g) => {
      const k = pairs[g], home = k >= 0 ? k : Math.max(0, ...pairs.slice(0, g));
      list.forEach((t, n) => [clause[t], fits[t]] = [home, k < 0 ? -1 : there[k][found[g][k][n]] ?? -1]);
      if (k >= 0) fillIn(list, fits, place, lacks, there[k]);
    });
    if (ours.at(-1) === END) {
      fits[ours.length - 1] = place[ours.length - 1] = theirs.length - 1;
      clause[ours.length - 1] = clause.at(-2) ?? 0;
    }
    return { fits, place, clause, lacks, gone: there.map((_, k) => k).filter(k => !pairs.includes(k)) };
  }

  function fillIn(list, fits, place, lacks, there) {   // wrong words take the places of missing ones, in order
    let next = there[0], wrong = [];
    for (const t of [...list, -1]) {
      if (t >= 0 && fits[t] < 0) wrong.push(t);
      if (t >= 0 && fits[t] < 0) continue;
      const end = t < 0 ? there.at(-1) + 1 : fits[t];
      wrong.forEach((w, n) => place[w] = next + n < end ? next + n : -1);
      const last = t < 0 ? list.at(-1) : list[list.indexOf(t) - 1];
      if (last !== undefined && next + wrong.length < end) lacks[last] = true;
      if (t >= 0) [place[t], next, wrong] = [fits[t], fits[t] + 1, []];
    }
  }

  return Object.assign(align, { cut });
})();
