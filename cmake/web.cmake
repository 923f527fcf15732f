# The page of the reports: web/ becomes one HTML file, which src/report/page.cpp takes into the program.
set(web ${PROJECT_SOURCE_DIR}/web)
set(page ${PROJECT_BINARY_DIR}/web/page.html)
find_program(NODE_PROGRAM NAMES node nodejs)
option(MDPCOSIM_REPORTS "Build the page of the reports (needs Node.js)" ${PROJECT_IS_TOP_LEVEL})
if(NOT MDPCOSIM_REPORTS)
  file(WRITE ${page} "")
elseif(NOT NODE_PROGRAM)
  message(FATAL_ERROR "Node.js is missing; the page of the reports (web/) is built with it. 'tools/setup web' installs it and the packages "
    "(elsewhere: Node.js 18 or newer, then 'npm ci' in web/), or configure with -DMDPCOSIM_REPORTS=OFF for a program without reports.")
elseif(NOT EXISTS ${web}/node_modules/esbuild)
  message(FATAL_ERROR "The packages of the page of the reports are missing. 'tools/setup web' (or 'npm ci' in web/) brings them, once; "
    "after that no network is needed. -DMDPCOSIM_REPORTS=OFF builds a program without reports.")
else()
  file(GLOB page_sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(OUTPUT ${page}
    COMMAND ${NODE_PROGRAM} ${web}/build.mjs ${page}
    DEPENDS ${page_sources} ${web}/build.mjs ${web}/package-lock.json
    COMMENT "Building the page of the reports" VERBATIM)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/report/page.cpp PROPERTIES
  OBJECT_DEPENDS ${page} COMPILE_DEFINITIONS "MDPCOSIM_PAGE=\"${page}\"")
