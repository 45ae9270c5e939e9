/** Whether PostgreSQL can store the text: it takes neither NUL nor half a surrogate pair (fields §2.5). */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
