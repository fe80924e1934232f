/** How the search of the site ranks what it finds. */

/**
 * Guides come before references. VitePress sends this function to the page as text, so it uses
 * nothing from outside.
 *
 * @param id the path of a section, such as `/api/falconry.html#sign`
 */
const boostDocument = (id: string): number => {
  if (/\/(api|decisions|rooms|examples)\//.test(id)) return 0.2;
  return /\/(changelog|cli|http|protocol|references|releasing|security|soundness)\b/.test(id)
    ? 0.4
    : 1;
};

export const searchOptions = {
  // A short word with another letter is another word.
  fuzzy: (term: string): number | false => (term.length > 4 ? 0.2 : false),
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument,
};
