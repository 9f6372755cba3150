// Every word of the page, in each interface language. HTML elements name theirs with data-t ("key" for the text,
// data-t-ATTRIBUTE="key" for an attribute); scripts ask say("key", values). {name} is replaced by a value.

import { ENGLISH as HEADS } from "./heads.js";
import { recall, remember } from "./storage.js";

/** @typedef {"en" | "fr"} Language */

const ENGLISH = {
  "page.description": "Private translation that shows which word came from which.",
  "page.skip": "Skip to the translation",
  "page.title": "Translation: {source} to {target}",
  "page.site": "Site",
  "page.api": "API",
  "page.language": "Language of this page",
  "page.theme": "Colours",
  "page.noscript": "This page needs JavaScript. The API works without: see",
  "page.noscript_link": "its description",
  "theme.system": "System",
  "theme.light": "Light",
  "theme.dark": "Dark",

  "text.placeholder": "Type or paste {source} text",
  "text.placeholder_any": "Type or paste text",
  "text.clear": "Clear",
  "text.copy": "Copy",
  "text.listen": "Listen",
  "text.share": "Link",
  "text.examples": "Examples",
  "text.count": "{n} of {limit} characters",
  "text.too_long": "The text is longer than {limit} characters; shorten it.",
  "text.hint":
    "Point at a word, or move to it with the keyboard, to see its partners in the other language. In the " +
    "translation the arrow keys go from word to word, and Enter offers other words.",
  "word.none": "has no partner",

  "direction.pair": "{source} to {target}",
  "direction.swap": "Switch to {pair}",
  "direction.offer": "Translate {pair}",
  "direction.source": "Language of the text",
  "direction.target": "Language of the translation",
  "direction.text": "Text",
  "direction.detect": "detect language",
  "direction.detected": "detected: {language}",
  "direction.assumed": "read as {language}",
  "direction.automatic": "translation",

  "status.translating": "Translating…",
  "status.sentences": "Translating… sentence {n} of {total}",
  "status.done": "Translated in {seconds} s by {model}",
  "status.copied": "Copied",
  "status.linked": "A link to this text is copied; the text travels in it.",
  "status.link_too_long": "The text is too long for a link.",
  "status.copy_refused": "The browser does not allow copying here; select the text instead.",
  "status.busy": "The server is busy; trying again in {seconds} s.",
  "status.unreachable": "The server cannot be reached. Is it running?",
  "status.away": "The server cannot be reached; the page tries again until it can.",
  "status.failed": "The server answered {status}.",

  "flag.truncated": "A sentence stopped at the maximum length: its end may be missing.",
  "flag.repaired": "A sentence was too long for the model and was translated in parts.",
  "flag.wrong_source_language": "This text seems to be in {detected}; the model reads {source} only. Do not rely on the translation.",
  "flag.unknown_source_language": "The language of this text could not be told; it was read as {source}.",
  "flag.loop": "The model repeated itself in a sentence.",
  "flag.repaired_loop": "The model repeated itself in a sentence, which was then translated in another way.",
  "flag.repaired_word": "A word was the model's guess; one of the lexicon stands in its place.",
  "flag.unaligned": "Part of a sentence may not have been translated.",
  "flag.number_mismatch": "The numbers of a sentence differ from those of its translation.",
  "flag.untranslated": "A sentence may have been left untranslated.",
  "flag.wrong_language": "A sentence, or its translation, seems to be in another language.",
  "flag.literal_lost": "Something that was to be kept as it is could not be placed.",
  "flag.term_missed": "A term of the glossary could not be used.",
  "flag.below_min_confidence": "The model was not sure enough of a sentence; it was kept untranslated.",
  "flag.negation_mismatch": "A sentence says no where its translation does not, or the reverse.",
  "flag.doubled_word": "The translation of a sentence says a word or phrase twice.",
  "flag.unknown_word": "A word of the translation may not exist.",
  "flag.marks_mismatch": "Brackets or quotation marks of a sentence were lost.",
  "flag.lexicon": "The translation is that of a list of short texts: the model was not sure of its own.",
  "flag.register_unavailable": "This model cannot choose between formal and informal.",
  "flag.other": "There may be something wrong with this translation ({kind}).",

  "sentence.look": "Look at this sentence again: {why}",
  "sentence.unsure": "The model is unsure of this sentence: confidence {percent} %.",
  "sentence.unsure_somewhere": "The model is unsure of what is marked.",

  "options.title": "Options",
  "options.n_best": "Alternatives",
  "options.beam": "Beam size",
  "options.beam_default": "model’s own",
  "options.typography": "French typography: « » and no-break spaces",

  "choices.name": "Other words for “{word}”",
  "choices.loading": "Looking for other words…",
  "choices.ready": "{n} words to choose from",
  "choices.none": "There are no other words here.",
  "choices.probability": "{percent} %",
  "choices.forced": "The translation begins as you chose.",
  "choices.undo": "Back to the model’s own",

  "memory.title": "Translation memory",
  "memory.none": "none",
  "memory.item": "{name} ({n} units)",
  "memory.translation": "From the translation memory, {percent} %: {source} → {target}",
  "memory.repair": "From the translation memory, {percent} %, with the words that differ put in: {source} → {target}",
  "memory.suggestion": "The translation memory has, {percent} %: {source} → {target}",

  "memories.title": "Translation memories",
  "memories.explanation":
    "Make one of a file for texts and documents from {source} to {target}: {formats}, at most {limit}. It is kept on the server.",
  "memories.choose": "Add a file",
  "memories.adding": "{name} is being read…",
  "memories.added": "{name} is in use, with {n} units.",
  "memories.added_for": "{name} is there for {source} to {target}, with {n} units.",
  "memories.skipped": "{n} units of the file were left out: a side is missing, blank or too long.",
  "memories.progress": "Reading the file",
  "memories.format": "{name} is of no format that a memory is made of: {formats}.",
  "memories.too_large": "{name} is larger than {limit}; import it in parts.",

  "alternatives.title": "Alternatives",
  "alternatives.explanation":
    "The number is the mean log-probability of the sub-words: nearer to 0 is more probable. Length counts too in the choice.",
  "alternatives.used": "in the translation",

  "heat.title": "Alignment",
  "heat.sentence": "Sentence",
  "heat.layer": "Layer",
  "heat.head": "Head",
  "heat.links": "as for the links",
  "heat.mean": "all, averaged",
  "heat.explanation": "How much each {target} word (rows) looked at each {source} word (columns), in percent.",
  "heat.cell": "{source} → {target}: {percent} %",
  "heat.too_large": "This sentence is too long to draw here; save it as JSON.",
  "heat.failed": "This attention could not be read: {reason}",
  "heat.save": "Save as",

  "heads.title": "Every head",
  "heads.open": "Show",
  "heads.close": "Hide",
  "heads.explanation":
    "What every head of every layer of the model looked at, by sub-words. Asked for when you open it.",
  "heads.too_long": "This text is too long to look at every head: the limit is {limit} characters.",
  "heads.none": "There is nothing to show for this sentence: it was copied, or is too long.",
  ...HEADS,

  "glossary.title": "Glossary",
  "glossary.explanation":
    "Own translations of terms, sent with every text. They are kept in this browser only.",
  "glossary.source": "Term ({source})",
  "glossary.target": "Translation ({target})",
  "glossary.add": "Add",
  "glossary.remove": "Remove {term}",
  "glossary.list": "Terms of the glossary",
  "glossary.added": "{term} added",
  "glossary.removed": "{term} removed",
  "glossary.incomplete": "A term and its translation are both needed.",

  "past.title": "History",
  "past.wanted": "Keep what I translate",
  "past.explanation": "In this browser only; nothing of it is sent. Switching it off deletes it.",
  "past.clear": "Delete all",
  "past.cleared": "The history is deleted",

  "keys.title": "Keys",
  "keys.ctrl": "Ctrl",
  "keys.shift": "Shift",
  "keys.translate": "translate now",
  "keys.swap": "switch the languages",
  "keys.copy": "copy the translation",
  "keys.text": "go to the text",

  "documents.title": "Documents",
  "documents.explanation": "Drop files here, or choose some: {formats}.",
  "documents.choose": "Choose files",
  "documents.list": "Documents of this visit",
  "documents.drop": "Drop the files to translate them",
  "documents.uploading": "Uploading",
  "documents.queued": "Waiting",
  "documents.translating": "Translating, {percent} %",
  "documents.done": "Translated",
  "documents.error": "Failed: {reason}",
  "documents.download": "Download {name}",
  "documents.remove": "Remove {name}",
  "documents.progress": "Progress of {name}",
  "documents.format": "This kind of file cannot be translated.",
  "documents.too_large": "The file is larger than {limit}.",

  "key.title": "This server asks for a key",
  "key.label": "API key",
  "key.explanation": "It is kept until this tab is closed.",
  "key.use": "Use this key",
};

/** @type {Record<keyof typeof ENGLISH, string>} */
const FRENCH = {
  "page.description": "Une traduction privée qui montre quel mot vient duquel.",
  "page.skip": "Aller à la traduction",
  "page.title": "Traduction {source}–{target}",
  "page.site": "Site",
  "page.api": "API",
  "page.language": "Langue de cette page",
  "page.theme": "Couleurs",
  "page.noscript": "Cette page a besoin de JavaScript. L’API s’en passe : voir",
  "page.noscript_link": "sa description",
  "theme.system": "Système",
  "theme.light": "Clair",
  "theme.dark": "Sombre",

  "text.placeholder": "Saisissez ou collez un texte en {source}",
  "text.placeholder_any": "Saisissez ou collez un texte",
  "text.clear": "Effacer",
  "text.copy": "Copier",
  "text.listen": "Écouter",
  "text.share": "Lien",
  "text.examples": "Exemples",
  "text.count": "{n} caractères sur {limit}",
  "text.too_long": "Le texte dépasse {limit} caractères ; raccourcissez-le.",
  "text.hint":
    "Pointez un mot, ou atteignez-le au clavier, pour voir ses correspondants dans l’autre langue. Dans la " +
    "traduction, les touches fléchées vont d’un mot à l’autre, et Entrée propose d’autres mots.",
  "word.none": "n’a pas de correspondant",

  "direction.pair": "{source}–{target}",
  "direction.swap": "Passer à {pair}",
  "direction.offer": "Traduire {pair}",
  "direction.source": "Langue du texte",
  "direction.target": "Langue de la traduction",
  "direction.text": "Texte",
  "direction.detect": "détecter la langue",
  "direction.detected": "langue détectée : {language}",
  "direction.assumed": "langue supposée : {language}",
  "direction.automatic": "traduction",

  "status.translating": "Traduction en cours…",
  "status.sentences": "Traduction en cours… phrase {n} sur {total}",
  "status.done": "Traduit en {seconds} s par {model}",
  "status.copied": "Copié",
  "status.linked": "Un lien vers ce texte est copié ; il contient le texte.",
  "status.link_too_long": "Le texte est trop long pour un lien.",
  "status.copy_refused": "Le navigateur ne permet pas de copier ici ; sélectionnez le texte.",
  "status.busy": "Le serveur est occupé ; nouvel essai dans {seconds} s.",
  "status.unreachable": "Le serveur ne répond pas. Est-il démarré ?",
  "status.away": "Le serveur ne répond pas ; la page réessaie jusqu’à ce qu’il réponde.",
  "status.failed": "Le serveur a répondu {status}.",

  "flag.truncated": "Une phrase a atteint la longueur maximale : sa fin manque peut-être.",
  "flag.repaired": "Une phrase trop longue pour le modèle a été traduite en plusieurs parties.",
  "flag.wrong_source_language": "Ce texte semble être en {detected} ; le modèle ne lit qu’une langue : {source}. Ne vous fiez pas à la traduction.",
  "flag.unknown_source_language": "La langue de ce texte n’a pas pu être reconnue ; langue supposée : {source}.",
  "flag.loop": "Le modèle s’est répété dans une phrase.",
  "flag.repaired_loop": "Le modèle s’est répété dans une phrase, qui a été retraduite autrement.",
  "flag.repaired_word": "Un mot était deviné par le modèle ; un mot du lexique l’a remplacé.",
  "flag.unaligned": "Une partie d’une phrase n’a peut-être pas été traduite.",
  "flag.number_mismatch": "Les nombres d’une phrase diffèrent de ceux de sa traduction.",
  "flag.untranslated": "Une phrase n’a peut-être pas été traduite.",
  "flag.wrong_language": "Une phrase ou sa traduction semble être dans une autre langue.",
  "flag.literal_lost": "Un élément à conserver tel quel n’a pas pu être placé.",
  "flag.term_missed": "Un terme du glossaire n’a pas pu être employé.",
  "flag.below_min_confidence": "Le modèle n’était pas assez sûr d’une phrase ; elle est restée non traduite.",
  "flag.negation_mismatch": "Une phrase est négative et sa traduction ne l’est pas, ou l’inverse.",
  "flag.doubled_word": "La traduction d’une phrase répète un mot ou une expression.",
  "flag.unknown_word": "Un mot de la traduction n’existe peut-être pas.",
  "flag.marks_mismatch": "Des parenthèses ou des guillemets d’une phrase ont été perdus.",
  "flag.lexicon": "La traduction vient d’une liste de textes courts : le modèle n’était pas sûr de la sienne.",
  "flag.register_unavailable": "Ce modèle ne sait pas choisir entre vouvoiement et tutoiement.",
  "flag.other": "Cette traduction a peut-être un défaut ({kind}).",

  "sentence.look": "Phrase à revoir : {why}",
  "sentence.unsure": "Le modèle n’est pas sûr de cette phrase : confiance {percent} %.",
  "sentence.unsure_somewhere": "Le modèle n’est pas sûr de ce qui est marqué.",

  "options.title": "Options",
  "options.n_best": "Variantes",
  "options.beam": "Taille du faisceau",
  "options.beam_default": "celle du modèle",
  "options.typography": "Typographie française : « » et espaces insécables",

  "choices.name": "D’autres mots pour « {word} »",
  "choices.loading": "Recherche d’autres mots…",
  "choices.ready": "{n} mots au choix",
  "choices.none": "Il n’y a pas d’autre mot ici.",
  "choices.probability": "{percent} %",
  "choices.forced": "La traduction commence comme vous l’avez choisi.",
  "choices.undo": "Revenir à celle du modèle",

  "memory.title": "Mémoire de traduction",
  "memory.none": "aucune",
  "memory.item": "{name} ({n} unités)",
  "memory.translation": "Tiré de la mémoire de traduction, {percent} % : {source} → {target}",
  "memory.repair": "Tiré de la mémoire de traduction, {percent} %, les mots qui diffèrent y étant mis : {source} → {target}",
  "memory.suggestion": "La mémoire de traduction contient, {percent} % : {source} → {target}",

  "memories.title": "Mémoires de traduction",
  "memories.explanation":
    "Créez-en une à partir d’un fichier, pour les textes et documents {source}–{target} : {formats}, {limit} au plus. Elle reste sur le serveur.",
  "memories.choose": "Ajouter un fichier",
  "memories.adding": "Lecture de {name}…",
  "memories.added": "{name} est utilisée, avec {n} unités.",
  "memories.added_for": "{name} est prête pour {source}–{target}, avec {n} unités.",
  "memories.skipped": "{n} unités du fichier ont été laissées de côté : un côté manque, est vide ou trop long.",
  "memories.progress": "Lecture du fichier",
  "memories.format": "{name} n’a pas le format d’une mémoire : {formats}.",
  "memories.too_large": "{name} dépasse {limit} ; importez-le en plusieurs parties.",

  "alternatives.title": "Variantes",
  "alternatives.explanation":
    "Le nombre est la log-probabilité moyenne des sous-mots : plus proche de 0, plus probable. La longueur compte aussi dans le choix.",
  "alternatives.used": "dans la traduction",

  "heat.title": "Alignement",
  "heat.sentence": "Phrase",
  "heat.layer": "Couche",
  "heat.head": "Tête",
  "heat.links": "celle des liens",
  "heat.mean": "toutes, en moyenne",
  "heat.explanation":
    "Attention de chaque mot {target} (lignes) sur chaque mot {source} (colonnes), en pour cent.",
  "heat.cell": "{source} → {target} : {percent} %",
  "heat.too_large": "Cette phrase est trop longue pour être dessinée ici ; enregistrez-la en JSON.",
  "heat.failed": "Cette attention n’a pas pu être lue : {reason}",
  "heat.save": "Enregistrer en",

  "heads.title": "Toutes les têtes",
  "heads.open": "Afficher",
  "heads.close": "Masquer",
  "heads.explanation":
    "Ce que chaque tête de chaque couche du modèle a regardé, par sous-mots. Demandé à l’ouverture.",
  "heads.too_long": "Ce texte est trop long pour montrer toutes les têtes : la limite est de {limit} caractères.",
  "heads.none": "Rien à montrer pour cette phrase : elle a été recopiée ou elle est trop longue.",
  "heads.kinds": "Sorte d’attention",
  "heads.cross": "Attention croisée",
  "heads.encoder": "Auto-attention de l’encodeur",
  "heads.decoder": "Auto-attention du décodeur",
  "heads.rows_cross": "Lignes : sous-mots en train d’être écrits. Colonnes : sous-mots de la source. En pour cent.",
  "heads.rows_encoder": "Lignes : sous-mots de la source. Colonnes : ce que chacun y regarde. En pour cent.",
  "heads.rows_decoder": "Lignes : sous-mots en train d’être écrits. Colonnes : ce qui était déjà écrit. En pour cent.",
  "heads.overview": "Toutes les têtes, une ligne par couche. Les touches fléchées vont de l’une à l’autre.",
  "heads.head": "Couche {layer}, tête {head}",
  "heads.layer": "Couche {layer}",
  "heads.cell": "{row} → {column} : {percent} %",
  "heads.too_large": "Trop long pour des nombres : {rows} lignes, {columns} colonnes.",

  "glossary.title": "Glossaire",
  "glossary.explanation":
    "Vos traductions de termes, envoyées avec chaque texte. Elles restent dans ce navigateur.",
  "glossary.source": "Terme ({source})",
  "glossary.target": "Traduction ({target})",
  "glossary.add": "Ajouter",
  "glossary.remove": "Retirer {term}",
  "glossary.list": "Termes du glossaire",
  "glossary.added": "{term} ajouté",
  "glossary.removed": "{term} retiré",
  "glossary.incomplete": "Il faut un terme et sa traduction.",

  "past.title": "Historique",
  "past.wanted": "Garder ce que je traduis",
  "past.explanation": "Dans ce navigateur seulement ; rien n’en est envoyé. Désactiver l’efface.",
  "past.clear": "Tout effacer",
  "past.cleared": "L’historique est effacé",

  "keys.title": "Touches",
  "keys.ctrl": "Ctrl",
  "keys.shift": "Maj",
  "keys.translate": "traduire tout de suite",
  "keys.swap": "inverser les langues",
  "keys.copy": "copier la traduction",
  "keys.text": "aller au texte",

  "documents.title": "Documents",
  "documents.explanation": "Déposez des fichiers ici, ou choisissez-en : {formats}.",
  "documents.choose": "Choisir des fichiers",
  "documents.list": "Documents de cette visite",
  "documents.drop": "Déposez les fichiers pour les traduire",
  "documents.uploading": "Envoi",
  "documents.queued": "En attente",
  "documents.translating": "Traduction, {percent} %",
  "documents.done": "Traduit",
  "documents.error": "Échec : {reason}",
  "documents.download": "Télécharger {name}",
  "documents.remove": "Retirer {name}",
  "documents.progress": "Avancement de {name}",
  "documents.format": "Ce type de fichier ne peut pas être traduit.",
  "documents.too_large": "Le fichier dépasse {limit}.",

  "key.title": "Ce serveur demande une clé",
  "key.label": "Clé d’API",
  "key.explanation": "Elle est conservée jusqu’à la fermeture de cet onglet.",
  "key.use": "Utiliser cette clé",
};

/** @typedef {keyof typeof ENGLISH} Key */

/** @type {Record<Language, Record<Key, string>>} */
export const STRINGS = { en: ENGLISH, fr: FRENCH };

const STORED = "passerelle.language";

/** @type {Language} */
let current = "en";
/** @type {Record<string, string>} */
let fixed = {}; // values that every string may use

/**
 * The text of `key` in the interface's language.
 * @param {Key} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values = {}) {
  return STRINGS[current][key].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? fixed[name] ?? whole));
}

/** @param {string} key @returns {key is Key} */
export const isKey = (key) => Object.hasOwn(ENGLISH, key);

/** The interface's language. */
export const language = () => current;

/** @param {number} n @param {Intl.NumberFormatOptions} [options] */
export const formatNumber = (n, options) => n.toLocaleString(current, options);

/** @param {number} bytes */
export const formatMegabytes = (bytes) =>
  formatNumber(bytes / 1e6, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });

/** The reader's choice, or else the first of the browser's languages that the page has. @returns {Language} */
export function preferredLanguage() {
  const stored = recall(STORED);
  const wanted = [stored, ...navigator.languages].map((code) => code?.slice(0, 2));
  return wanted.find((code) => code === "en" || code === "fr") ?? "en";
}

/** @param {Language} code */
export function rememberLanguage(code) {
  remember(STORED, code);
}

/** From now on every string is in this language. @param {Language} code */
export function useLanguage(code) {
  current = code;
  document.documentElement.lang = code;
}

/** Write the whole page, in the language in use. @param {Record<string, string>} values that every string may use */
export function writePage(values) {
  fixed = values;
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (!name.startsWith("data-t") || !isKey(value)) continue;
      if (name === "data-t") element.textContent = say(value);
      else element.setAttribute(name.slice("data-t-".length), say(value));
    }
  }
}
