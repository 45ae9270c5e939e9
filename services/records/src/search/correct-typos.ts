import { createParameters } from '@recordbus/query';
import { readCondition } from '../shape/conditions.ts';
import { compileMatch, matchesFrom } from './match-sql.ts';
import { findNearWords, type NearWord, type Suspect, searchFor } from './near-words.ts';
import type { ParsedSearch, SearchTerm } from './parse-search.ts';
import type { Corrections, Search } from './search-request.ts';
import { countSql, type TypoPlace } from './typo-place.ts';

/** How many words a typo is replaced by. */
const maxCorrections = 3;

/** How many near words one statement counts for each typo, the nearest first. */
const countedAtOnce = 300;

/**
 * How many near words that visible records have are compared. There are more only where texts are made for it. Hidden words do
 * not count: nobody can crowd out a correction with them, nor learn of them by one that is missing.
 */
const maxCompared = 300;

/** Only words of letters have typos. Scripts without spaces have none: any letters make a word. */
const wordOfLetters = /^[\p{L}\p{M}]+$/u;
const scriptWithoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Whether a search may have typos, after it found something or not. With `all`, each word is found if a record is. */
export function mayHaveTypos({ index, parsed, mode }: Search, found: boolean): boolean {
  if (!index.search.typos) return false;
  const needsEachWord = mode === 'all' && parsed.wanted.every((terms) => terms.length === 1);
  return !(found && needsEachWord) && findSuspects(parsed).length > 0;
}

/**
 * Replaces a search's words that no record has by near ones that some have; undefined if there are none. Only records that
 * list rule and filter admit count (search §2.6).
 */
export async function correctTypos(place: TypoPlace): Promise<Search | undefined> {
  const { search } = place;
  const suspects = findSuspects(search.parsed);
  const near = await findNearWords(place, suspects);
  const typos = suspects.map((_, at) => ({ waiting: near[at] ?? [], visible: [] as VisibleWord[] }));
  for (;;) {
    const open = typos.filter((typo) => typo.waiting.length > 0 && !isDecided(typo));
    if (open.length === 0) break;
    const asked = open.flatMap((typo) =>
      typo.waiting.splice(0, countedAtOnce).map((candidate) => ({ candidate, visible: typo.visible })),
    );
    const counts = await countVisible(
      place,
      asked.map(({ candidate }) => candidate.word),
    );
    for (const [at, { candidate, visible }] of asked.entries()) {
      const records = counts[at] ?? 0;
      if (records > 0) visible.push({ ...candidate, records });
    }
  }
  const corrections = new Map<SearchTerm, readonly string[]>();
  for (const [at, { term }] of suspects.entries()) {
    const words = bestOf(typos[at]?.visible ?? []);
    if (words.length > 0) corrections.set(term, words);
  }
  return corrections.size > 0 ? withCorrections(search, corrections) : undefined;
}

interface VisibleWord extends NearWord {
  /** How many visible records have it. */
  readonly records: number;
}

interface Typo {
  /** Near words that are not counted yet, the nearest first. */
  readonly waiting: readonly NearWord[];
  readonly visible: readonly VisibleWord[];
}

/** Whether no waiting word can be among the best ones, or enough are compared. */
function isDecided({ waiting: [next], visible }: Typo): boolean {
  const worst = visible[maxCorrections - 1];
  return visible.length >= maxCompared || (next !== undefined && worst !== undefined && worst.distance < next.distance);
}

const bestOf = (visible: readonly VisibleWord[]): string[] =>
  visible
    .slice(0, maxCompared)
    .sort((a, b) => a.distance - b.distance || b.records - a.records || (a.word < b.word ? -1 : 1))
    .slice(0, maxCorrections)
    .map(({ word }) => word);

function findSuspects({ wanted }: ParsedSearch): Suspect[] {
  return wanted.flat().flatMap((term) => {
    if (term.isPhrase || !wordOfLetters.test(term.text) || scriptWithoutSpaces.test(term.text)) return [];
    const letters = [...foldWord(term.text)];
    return letters.length < 4 ? [] : [{ term, letters, most: letters.length < 8 ? 1 : 2 }];
  });
}

/** Folds a word like `system.fold_search_text`, and into lower case. */
const foldWord = (word: string): string =>
  word
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/gu, '')
    .normalize('NFKC')
    .toLowerCase();

/** How many visible records have each word. */
async function countVisible(
  { query, collection, search, filter, ruleContext }: TypoPlace,
  candidates: readonly string[],
): Promise<number[]> {
  const parameters = createParameters();
  const condition = readCondition(collection, filter, { row: 't', parameters }, ruleContext);
  const words = parameters.fixed(candidates, 'text[]');
  const parsed = searchFor({ text: '', isPhrase: false, isPrefix: false });
  const { hasWords, readsRecord } = compileMatch(collection, { ...search, parsed }, { fixed: () => 'c.word' });
  const matches = matchesFrom(collection, search, { condition: hasWords, readsRecord }, condition);
  const counts = await query<{ visible: number }>({
    text: `select ${countSql(matches)} as visible
      from unnest(${words}) with ordinality c(word, n) order by c.n`,
    values: parameters.values(ruleContext.request),
    onPrimary: parameters.readsAccount,
  });
  return counts.map(({ visible }) => visible);
}

function withCorrections(search: Search, corrections: ReadonlyMap<SearchTerm, readonly string[]>): Search {
  const { parsed } = search;
  const wanted = parsed.wanted.map((terms) =>
    terms.flatMap(
      (term) => corrections.get(term)?.map((text) => ({ text, isPhrase: false, isPrefix: false })) ?? [term],
    ),
  );
  const corrected: Corrections = Object.fromEntries([...corrections].map(([{ text }, words]) => [text, words]));
  return { ...search, parsed: { ...parsed, wanted }, corrected };
}
