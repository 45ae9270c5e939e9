/** The attribute that carries an element's attributes that the editor does not know, as JSON. */
export const keptName = 'data-kept';

/** Attributes by name. */
export type Attributes = Readonly<Record<string, string>>;

/** The schemes that a link may have. An image may also be in the text itself. */
const linkSchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const imageInText = /^data:image\/(png|jpeg|gif|webp|avif);/i;

/** Attributes with an address that the editor does not know are dropped with what could run. */
const unsafeName = /^on|^(href|src|srcdoc|srcset|action|formaction|xlink:href|background|poster|ping)$/i;

/** Whether a link may lead to an address. */
export function isSafeLink(address: string): boolean {
  try {
    // Relative addresses are safe.
    return linkSchemes.has(new URL(address, location.href).protocol);
  } catch {
    return false;
  }
}

/** Whether an image may come from an address. */
export const isSafeImage = (address: string): boolean =>
  imageInText.test(address) || (isSafeLink(address) && !/^(mailto|tel):/i.test(address.trim()));

/** Returns the attributes that are kept although the editor does not know them; `null` without any. */
export function keptText(attributes: Attributes): string | null {
  const kept = safeOnes(attributes);
  return Object.keys(kept).length === 0 ? null : JSON.stringify(kept);
}

/** Reads kept attributes. A pasted text may have written them, so they are checked again. */
export function readKept(text: string | null | undefined): Attributes {
  if (!text) return {};
  try {
    return safeOnes(JSON.parse(text));
  } catch {
    return {};
  }
}

const safeOnes = (attributes: unknown): Attributes =>
  typeof attributes !== 'object' || attributes === null
    ? {}
    : Object.fromEntries(
        Object.entries(attributes).filter(
          (pair): pair is [string, string] =>
            typeof pair[1] === 'string' && /^[a-z][\w:.-]*$/i.test(pair[0]) && !unsafeName.test(pair[0]),
        ),
      );

/** Returns the kept style that the editor shows. Colours that suit a website may be unreadable in a theme. */
export function shownStyle(kept: string | null): string | null {
  const align = /(?:^|;)\s*text-align\s*:\s*(left|right|center|justify)\b/i.exec(readKept(kept).style ?? '')?.[1];
  return align === undefined ? null : `text-align: ${align}`;
}
