/** A random text with other letters at one end. */
export const damaged = (own: string): readonly string[] => [`A${own.slice(1)}`, `${own.slice(0, -2)}AA`];

export const shorterOrLonger = (own: string): readonly string[] => [`${own.slice(0, -1)}`, `AB${own.slice(1)}`];
