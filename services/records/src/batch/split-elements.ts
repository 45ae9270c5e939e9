import { startSlice } from '@recordbus/limits/time-slice';

interface Element {
  readonly start: number;
  readonly end: number;
}

/** A JSON object's member whose value is a list. */
interface Split {
  /** Where its entries are; undefined without such a member. */
  readonly elements: readonly Element[] | undefined;
  /** Where the entries within the brackets are. */
  readonly start: number;
  readonly end: number;
}

const [quote, backslash, comma, space] = [0x22, 0x5c, 0x2c, 0x20];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** How many bytes are read between two looks at the clock: a fraction of a millisecond. */
const bytesPerCheck = 65_536;

/**
 * Finds the entries in a list that is a member of a JSON text's outermost object: the first `most`, and one more if
 * there are more. Linear, and in time slices. It checks nothing else: the code that parses the entries and the rest finds
 * errors.
 */
export async function splitElements(json: Uint8Array, member: string, most: number): Promise<Split> {
  const slice = startSlice();
  const name = Buffer.from(`"${member}"`);
  const elements: Element[] = [];
  let checkedAt = 0;
  let depth = 0;
  let textStart = -1;
  let isNamed = false;
  /** The index at which the list begins; -1 before that. */
  let listStart = -1;
  let start = 0;
  let isBlank = true;
  for (let at = 0; at < json.length; at += 1) {
    if (at - checkedAt > bytesPerCheck) {
      checkedAt = at;
      if (slice.isOver()) await slice.pause();
    }
    const byte = json[at] ?? space;
    if (textStart >= 0) {
      if (byte === backslash) at += 1;
      else if (byte === quote) {
        if (depth === 1) isNamed = name.equals(json.subarray(textStart, at + 1));
        textStart = -1;
      }
      continue;
    }
    if (byte === closeList || byte === closeObject) {
      depth -= 1;
      if (depth === 1 && listStart >= 0) {
        // An empty list has no entry.
        if (elements.length > 0 || !isBlank) elements.push({ start, end: at });
        return { elements, start: listStart, end: at };
      }
    }
    if (byte > space) isBlank = false;
    if (byte === quote) textStart = at;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      if (depth !== 2 || byte !== openList || !isNamed) continue;
      listStart = at + 1;
      start = listStart;
      isBlank = true;
    } else if (byte === comma && depth === 1) isNamed = false;
    else if (byte === comma && depth === 2 && listStart >= 0) {
      elements.push({ start, end: at });
      start = at + 1;
      if (elements.length > most) return { elements, start: listStart, end: at };
    }
  }
  return { elements: undefined, start: 0, end: 0 };
}
