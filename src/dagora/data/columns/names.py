"""Columns by their names: identifiers, places, weights."""

from __future__ import annotations

import re

UNNAMED = "Unnamed"  # the first column of a file that has no name for it: most often the row's number
IS_ID = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|index|nr|no)$|^(id|index|rownames|unnamed|phone|telephone|tel|fax)\b",
    re.IGNORECASE,
)
IS_CAMEL_ID = re.compile(r"[a-z](ID|Id|UUID|Nr|No|Key|Index)$")
UNITS = "patient|subject|participant|person|proband|respondent|pupil|student|animal|customer|client|household"
SINGLE_UNITS = "pat|subj|case|fall|record"
SHORT_UNITS = "patnr|patno|patid|ptid|hhid|hhnr|fallnr|fallid|subjid|caseid|recordid|studyid|vpn|mrn|pid"
NUMBERED = "([ _.-]?(no|nr|num|nummer|number|code|key|index))?"
# Whoever or whatever was measured, where values repeat: `body_mass_index` and `visit_no` are none of these.
# Plurals count: `patients` is no name of one.
IS_UNIT = re.compile(
    rf"(^|[^a-z])(id|ids|uuid|guid|ssn|{SHORT_UNITS})$|^({UNITS}|{SINGLE_UNITS}){NUMBERED}$", re.IGNORECASE
)
# Where rows come from, as a number: rows of one hospital are not independent.
IS_GROUP = re.compile(
    rf"^(hospital|hosp|clinic|site|centre|center|doctor|physician|school|cluster)s?{NUMBERED}$", re.IGNORECASE
)
IS_CAMEL_UNIT = re.compile(r"[a-z](ID|Id|UUID)$")
IS_PLACE = re.compile(r"^(zip|zip[ _.-]?codes?|post[ _.-]?codes?|postal([ _.-]?codes?)?|plz)$", re.IGNORECASE)
# Codes of classifications, some of which look like numbers: 250.00 and 401.9 are diagnoses.
IS_CODE = re.compile(
    r"^(icd|icd[ _.-]?(9|10)|dx|diag|diagnosis|atc|cpt|drg|naics|sic|isco|nace)"
    r"([ _.-]?(cm|codes?))*[ _.-]?\d?$",
    re.IGNORECASE,
)
IS_MOMENT = re.compile(
    r"(^|[^a-z])(time|times|stamp|timestamp|ts|date|datetime|created|updated|modified|epoch|unix)([^a-z]|$)"
    r"|[a-z](At|Time|Stamp|Date)$",
    re.IGNORECASE,
)
IS_DAY = re.compile(r"(^|[^a-z])(dates?|datum|dob|birth_?day)([^a-z]|$)|[a-z]Date$", re.IGNORECASE)
IS_COUNT = re.compile(
    r"^((n|no|nr|num|number)([ _.-]?of)?[ _.-]?)?(n|counts?|freqs?|frequency|frequencies|cases|cells?|people|"
    rf"individuals|obs|observations|rows|records|({UNITS})s)$"
    r"|^(number|anzahl|h(ä|ae)ufigkeit(en)?|personen|patienten|f(ä|ae)lle|befragte|nombre|effectifs?|"
    r"fr[ée]quences?|personnes|n[úu]mero|frecuencias?|personas|casos|frequenza|aantal|antal|antall|liczba)$",
    re.IGNORECASE,
)
IS_WEIGHT = re.compile(
    r"^(wgts?|fnlwgt|(case|sample|sampling|survey|person|prob|design|p|f|freq)[ _.-]?(weights?|wgts?|wts?))$",
    re.IGNORECASE,
)
# Amounts of which there may be none: a zero is a number there.
MAY_BE_NONE = re.compile(
    r"(^|[^a-z])(incomes?|salary|salaries|wages?|earnings?|pay|payments?|costs?|amounts?|sales|revenues?|"
    r"spending|expens\w+|budget|tax|taxes|rent|benefits?|debts?|loans?|balance|profits?|premiums?|donations?|"
    r"purchases?|turnover|capital\w*|savings|dose|dosage|doses|counts?|hours?|minutes?|days|visits?|drinks?|"
    r"cigarettes?|alcohol|rain\w*|precipitation|snow\w*|distance|einkommen|gehalt|lohn|umsatz|kosten)([^a-z]|$)",
    re.IGNORECASE,
)
# What nobody has none of: a zero is no number there.
NEVER_NONE = re.compile(
    r"(^|[^a-z])(age|alter|bmi|body ?mass ?index|(body|birth)[ _.-]?weight|(body[ _.-]?)?height|sbp|dbp|"
    r"(blood|systolic|diastolic|arterial)[ _.-]?pressure|pulse|heart[ _.-]?rate|glucose|insulin|cholesterol|"
    r"ha?emoglobin|hba1c|sodium|potassium|creatinine|skin[ _.-]?thickness)([^a-z]|$)",
    re.IGNORECASE,
)
IS_AGE = re.compile(r"(^|[^a-z])(age|ages|alter|âge|edad)([^a-z]|$)", re.IGNORECASE)
OTHER_THAN_YEARS = re.compile(r"month|week|day|hour|minute|monat|woche|tag|mois|jour|gest", re.IGNORECASE)
IS_YEAR = re.compile(
    r"(^|[^a-z])(yob|year|years|jahr|geburtsjahr|birth[ _.-]?year|jahrgang|ann[ée]e|año)([^a-z]|$)",
    re.IGNORECASE,
)
MAY_BE_WEIGHT = re.compile(r"^(weights?|wts?|w|pw|fw|sw|gewichte?|poids)$", re.IGNORECASE)
# When a row was measured, of several times.
IS_OCCASION = re.compile(
    r"^(visits?|waves?|time[ _.-]?points?|sessions?|occasions?|follow[ _.-]?ups?|welle|messzeitpunkt|"
    rf"zeitpunkt|besuch|visite){NUMBERED}$",
    re.IGNORECASE,
)


def called_identifier(name: str) -> bool:
    """Return True if a column is called an identifier of rows.

    >>> [called_identifier(name) for name in ("visit_id", "PatientID", "acid")]
    [True, True, False]
    """
    return bool(IS_ID.search(name) or IS_CAMEL_ID.search(name))


def called_unit(name: str) -> bool:
    """Return True if a column is called by what was measured, perhaps more than once.

    >>> [called_unit(name) for name in ("patient", "hospital_id", "BirdID", "mass_index", "visit_no")]
    [True, True, True, False, False]
    >>> [called_unit(name) for name in ("patnr", "pat_nr", "Fallnummer", "hhid", "case", "cases", "patients")]
    [True, True, True, True, True, False, False]
    """
    return bool(IS_UNIT.search(name) or IS_CAMEL_UNIT.search(name))


def called_group(name: str) -> bool:
    """Return True if a column is called by where rows come from.

    >>> [called_group(name) for name in ("hospital", "clinic_no", "Site Code", "website", "site_temperature")]
    [True, True, True, False, False]
    """
    return bool(IS_GROUP.match(name))
