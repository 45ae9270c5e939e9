const badWords = ['rubbish', 'nonsense'];

/** Returns a word in the message that is not allowed in the guestbook. */
export const findBadWord = (message: string): string | undefined =>
  badWords.find((word) => message.toLowerCase().includes(word));
