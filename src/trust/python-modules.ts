/**
 * Modules of Python's standard library that are files. Python looks for a module beside the script first, also
 * when the library itself imports it: a `token.py` there runs as soon as a script imports `logging`.
 */
const LIBRARY_MODULES: ReadonlySet<string> = new Set(
  `
_aix_support _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs_cn _codecs_hk _codecs_iso2022
_codecs_jp _codecs_kr _codecs_tw _collections_abc _compat_pickle _compression _contextvars
_crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib
_frozen_importlib_external _gdbm _hashlib _heapq _json _locale _lsprof _lzma _markupbase _md5
_msi _multibytecodec _multiprocessing _opcode _osx_support _overlapped _pickle _posixshmem
_posixsubprocess _py_abc _pydecimal _pyio _queue _random _scproxy _sha1 _sha256 _sha3 _sha512
_sitebuiltins _socket _sqlite3 _ssl _statistics _strptime _struct _threading_local _tkinter
_tokenize _typing _uuid _weakrefset _winapi _zoneinfo abc aifc annotationlib argparse array ast
asynchat asyncio asyncore audioop base64 bdb binascii bisect bz2 cProfile calendar cgi cgitb
chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent
configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime
dbm decimal difflib dis distutils doctest email encodings ensurepip enum fcntl filecmp fileinput
fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib grp gzip
hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress json keyword
lib2to3 linecache locale logging lzma mailbox mailcap math mimetypes mmap modulefinder msilib
msvcrt multiprocessing netrc nis nntplib ntpath nturl2path numbers opcode operator optparse os
ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posixpath
pprint profile pstats pty py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re
readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil
signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants
sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sysconfig
syslog tabnanny tarfile telnetlib tempfile termios textwrap threading timeit tkinter token
tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib
uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp
zipfile zlib zoneinfo
`
    .trim()
    .split(/\s/),
);

/** Whether a name in a script's directory is a file or package that is taken instead of the library's. */
export function isLibraryModuleName(name: string): boolean {
  const [module = ''] = name.split('.', 1);
  const isLoaded = module === name || /\.(?:py|pyc|so|pyd)$/.test(name);
  return isLoaded && LIBRARY_MODULES.has(module);
}
