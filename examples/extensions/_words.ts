const badWords = ['rubbish', 'nonsense'];

/** The first word of a message that nobody wants in a guestbook. */
export const findBadWord = (message: string): string | undefined =>
  badWords.find((word) => message.toLowerCase().includes(word));
