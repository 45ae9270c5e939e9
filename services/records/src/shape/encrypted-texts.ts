/** Returns the JSON that replaces an encrypted text; undefined leaves the text as it is. */
export type DecryptText = (text: string) => string | undefined;

/** An object's encrypted members. If the value is a list, they are each object's in it. */
export interface EncryptedMembers {
  /** The members whose texts are encrypted. */
  readonly texts: ReadonlyMap<string, DecryptText>;
  /** The members that are objects, or lists of objects, with encrypted members. */
  readonly nested: ReadonlyMap<string, EncryptedMembers>;
}

/** An encrypted text, from its first quote to the index after its last one. */
export interface FoundText {
  readonly start: number;
  readonly end: number;
  readonly decrypt: DecryptText;
}

/** A search through a JSON text. */
export interface TextSearch {
  /** Searches the next UTF-16 code units, as many as given, or up to where the next encrypted text ends. */
  advance(units: number): FoundText | undefined;
  isAtEnd(): boolean;
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Searches JSON from the database for encrypted texts without parsing it, so it can pause anywhere, even within a value
 * that has many megabytes. Objects that `root` does not name are skipped, even if their members have the same names.
 */
export function searchTexts(json: string, root: EncryptedMembers): TextSearch {
  const structure = followStructure(json, root);
  let at = 0;
  let textStart: number | undefined;
  return {
    isAtEnd: () => at >= json.length,
    advance(units) {
      const stop = Math.min(at + units, json.length);
      let index = at;
      let found: FoundText | undefined;
      while (index < stop && !found) {
        const code = json.charCodeAt(index);
        index += 1;
        if (textStart === undefined) {
          if (code === quote) textStart = index - 1;
          else if (code === openObject || code === openList) structure.enter(code === openList);
          else if (code === closeObject || code === closeList) structure.leave();
        } else if (code === backslash) index += 1;
        else if (code === quote) {
          found = structure.read(textStart, index);
          textStart = undefined;
        }
      }
      at = index;
      return found;
    },
  };
}

/** Tracks the object that the next name or value belongs to. */
function followStructure(json: string, root: EncryptedMembers) {
  /** The enclosing objects and lists with encrypted members, the outermost first. */
  const enclosing: { readonly members: EncryptedMembers; readonly isList: boolean }[] = [];
  /** The depth within an object or list that is skipped; 0 outside. */
  let skippedDepth = 0;
  /** The next value's encrypted members. */
  let next: EncryptedMembers | undefined = root;
  let decrypt: DecryptText | undefined;
  return {
    enter(isList: boolean): void {
      decrypt = undefined;
      if (skippedDepth > 0 || !next) skippedDepth += 1;
      else {
        enclosing.push({ members: next, isList });
        if (!isList) next = undefined;
      }
    },
    leave(): void {
      if (skippedDepth > 0) skippedDepth -= 1;
      else enclosing.pop();
      const outer = enclosing.at(-1);
      next = outer?.isList ? outer.members : undefined;
    },
    read(start: number, end: number): FoundText | undefined {
      const outer = enclosing.at(-1);
      if (skippedDepth > 0 || !outer || outer.isList) return undefined;
      // The database writes no space between a name and its colon.
      const isName = json.charCodeAt(end) === colon;
      const name = isName ? json.slice(start + 1, end - 1) : '';
      const found = !isName && decrypt ? { start, end, decrypt } : undefined;
      decrypt = isName ? outer.members.texts.get(name) : undefined;
      next = isName ? outer.members.nested.get(name) : undefined;
      return found;
    },
  };
}
